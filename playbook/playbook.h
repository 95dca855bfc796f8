#pragma once
// The rewrites, one function each, defined in tierN_…/<verb_object>.cc; playbook.cc puts them in order.

#include "playbook/rewrite.h"

namespace amdahl {

// One line a rewrite.
const Rewrite* adopt_knobs();
const Rewrite* block_by_count();
const Rewrite* choose_register_tile();
const Rewrite* choose_cache_blocks();
const Rewrite* choose_loop_order();
const Rewrite* choose_query_block();
const Rewrite* choose_conv_tile();
const Rewrite* choose_conv_blocks();
const Rewrite* pack_constant_weights();
const Rewrite* absorb_movement();
const Rewrite* set_prefetch_distance();
const Rewrite* carry_blocked_layout();
const Rewrite* carry_channels_last();
const Rewrite* multiply_in_bf16();
const Rewrite* unroll_k();
const Rewrite* choose_thread_partition();
const Rewrite* align_thread_partitions();
const Rewrite* fuse_attention();
const Rewrite* fuse_mlp();
const Rewrite* fuse_inverted_residual();
const Rewrite* split_k();
const Rewrite* use_gemv_form();
const Rewrite* use_avx512();
const Rewrite* prefer_wide_vectors();
const Rewrite* unroll_loops();
const Rewrite* use_online_softmax();
const Rewrite* skip_causal_tiles();
const Rewrite* use_strassen();
const Rewrite* use_strassen_twice();
const Rewrite* use_strassen_in_bf16();
const Rewrite* use_strassen_twice_in_bf16();
const Rewrite* use_winograd();
const Rewrite* use_winograd_f43();
const Rewrite* use_direct_conv();
const Rewrite* use_implicit_gemm();
const Rewrite* use_depthwise_row_reuse();
const Rewrite* choose_rows_per_task();
const Rewrite* read_in_place();
const Rewrite* write_in_place();
const Rewrite* read_pieces();
const Rewrite* transpose_in_blocks();
const Rewrite* use_streaming_stores();
const Rewrite* fuse_pointwise_chain();
const Rewrite* fuse_epilogue();
const Rewrite* fuse_prologue();
const Rewrite* use_more_accumulators();
const Rewrite* fuse_layernorm();
const Rewrite* fuse_rmsnorm();
const Rewrite* fuse_rope();
const Rewrite* fuse_residual_norm();
const Rewrite* fuse_gelu();
const Rewrite* split_long_rows();
const Rewrite* choose_vector_bits();
const Rewrite* fold_rows_in_one_pass();
const Rewrite* use_welford();
const Rewrite* overlap_rows();
const Rewrite* choose_block_shape();
const Rewrite* choose_thread_tile();
const Rewrite* choose_warp_tile();
const Rewrite* choose_warpgroup_tile();
const Rewrite* choose_row_warps();
const Rewrite* choose_pipeline_stages();
const Rewrite* choose_attention_tile();
const Rewrite* use_mma_form();

// "" or why multiply_in_bf16() has nothing to offer on the target, whatever the model.
std::string refused_in_bf16(const Target& target);

}  // namespace amdahl
