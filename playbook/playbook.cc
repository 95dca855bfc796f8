#include "playbook/playbook.h"

namespace amdahl {

// Order is meaning: a prior over what is tried first.
const std::vector<const Rewrite*>& playbook() {
  static const std::vector<const Rewrite*> rewrites{
      // tier 1
      adopt_knobs(),
      block_by_count(),
      choose_register_tile(),
      choose_cache_blocks(),
      choose_loop_order(),
      choose_query_block(),
      choose_conv_tile(),
      choose_conv_blocks(),
      choose_rows_per_task(),
      choose_block_shape(),
      choose_thread_tile(),
      choose_warp_tile(),
      choose_warpgroup_tile(),
      choose_row_warps(),
      // tier 2
      absorb_movement(),
      read_in_place(),
      write_in_place(),
      read_pieces(),
      pack_constant_weights(),
      set_prefetch_distance(),
      carry_blocked_layout(),
      carry_channels_last(),
      transpose_in_blocks(),
      use_streaming_stores(),
      choose_pipeline_stages(),
      // tier 3
      fuse_pointwise_chain(),
      fuse_epilogue(),
      fuse_prologue(),
      multiply_in_bf16(),
      unroll_k(),
      use_more_accumulators(),
      // tier 4
      fuse_layernorm(),
      fuse_rmsnorm(),
      fuse_rope(),
      fuse_attention(),
      fuse_mlp(),
      fuse_inverted_residual(),
      fuse_residual_norm(),
      fuse_gelu(),
      choose_thread_partition(),
      align_thread_partitions(),
      split_k(),
      split_long_rows(),
      choose_attention_tile(),
      // tier 5
      use_avx512(),
      prefer_wide_vectors(),
      choose_vector_bits(),
      unroll_loops(),
      // tier 6
      use_gemv_form(),
      use_online_softmax(),
      fold_rows_in_one_pass(),
      use_welford(),
      overlap_rows(),
      skip_causal_tiles(),
      use_strassen(),
      use_strassen_twice(),
      use_strassen_in_bf16(),
      use_strassen_twice_in_bf16(),
      use_winograd(),
      use_winograd_f43(),
      use_direct_conv(),
      use_implicit_gemm(),
      use_depthwise_row_reuse(),
      use_mma_form(),
  };
  return rewrites;
}

const Rewrite* find_rewrite(std::string_view name) {
  for (const Rewrite* rewrite : playbook())
    if (rewrite->name() == name) return rewrite;
  return nullptr;
}

}  // namespace amdahl
