"""The program's answers to a list of packed cases."""
import concurrent.futures
import json
import os
import subprocess
import tempfile

import stream


# What the loader writes out: no operators of a graph.
CONTROL_FLOW = [{"domain": "", "name": name, "inputs": "a", "outputs": 1} for name in ("If", "Loop", "Scan")]


def operators(program):
    lines = subprocess.run([program, "--operators"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines] + CONTROL_FLOW


def ask_once(program, blobs, kernels):
    """[{way: answer}], one for each case that was finished; and how the process ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases")
        stream.write(path, blobs)
        done = subprocess.run([program, path] + (["--kernels"] if kernels else []), capture_output=True, text=True)
    answers, ways = {}, 4 if kernels else 3
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        answers.setdefault(answer["case"], {})[answer["way"]] = answer
    whole = [a for a in answers.values() if len(a) == ways]
    return whole, done


def ask_shard(program, blobs, kernels):
    """As ask_once, and a case that takes the process with it is an answer too."""
    answers = []
    while len(answers) < len(blobs):
        whole, done = ask_once(program, blobs[len(answers):], kernels)
        answers += whole
        if len(answers) < len(blobs):
            ending = f"the process ended with {done.returncode}: {done.stderr.strip()[-200:]}"
            answers.append({"process": {"way": "process", "failed": ending}})
    return answers


def ask(program, blobs, kernels, jobs, size=50):
    shards = [blobs[i:i + size] for i in range(0, len(blobs), size)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [a for shard in pool.map(lambda s: ask_shard(program, s, kernels), shards) for a in shard]
