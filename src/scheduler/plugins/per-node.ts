import type { PodInfo } from '../framework/node-info.js';

/** Pods of one kind ask the same few questions. */
const MOST_KEPT = 64;

/**
 * Keeps what was found out about the pods of a node for as long as they stay as they are: lists of pods are never changed, a node
 * gets another one with each change. So a decision asks anew only about the few nodes that decisions since have changed, however
 * many pods there are.
 */
export class PerNode<T> {
  private readonly known = new WeakMap<readonly PodInfo[], Map<string, T>>();

  /** @param key names the question: equal keys mean equal answers for the same pods. None: the answer is not kept */
  of(pods: readonly PodInfo[], key: string | undefined, find: () => T): T {
    if (key === undefined) return find();
    let answers = this.known.get(pods);
    if (!answers) this.known.set(pods, (answers = new Map()));
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = find();
      if (answers.size >= MOST_KEPT) answers.clear();
      answers.set(key, answer);
    }
    return answer;
  }
}
