import type { NodeInfo, PodInfo } from '../framework/node-info.js';

/*
 * What was found out about the pods of a node is kept until these pods change. Lists of pods are never changed in
 * place: a node gets a new list with each change. So a decision only examines the few nodes that have changed since the
 * last one, regardless of the number of pods.
 */

/** Pods of one kind ask the same few questions. */
const MOST_KEPT = 64;

/** Answers about single nodes. */
export class PerNode<T> {
  private readonly known = new WeakMap<readonly PodInfo[], Map<string, T>>();

  /** @param key names the question: equal keys mean equal answers for the same pods */
  of(pods: readonly PodInfo[], key: string, find: (pods: readonly PodInfo[]) => T): T {
    let answers = this.known.get(pods);
    if (!answers) this.known.set(pods, (answers = new Map<string, T>()));
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = find(pods);
      if (answers.size >= MOST_KEPT) answers.clear();
      answers.set(key, answer);
    }
    return answer;
  }
}

interface Answers<T> {
  readonly lists: (readonly PodInfo[])[];
  readonly values: T[];
}

/** Answers about all nodes of a snapshot, which cost a comparison each where nothing has changed. */
export class EveryNode<T> {
  private readonly known = new Map<string, Answers<T>>();

  constructor(private readonly podsOf: (node: NodeInfo) => readonly PodInfo[]) {}

  /**
   * @param key names the question: equal keys mean equal answers for the same pods. None: the answers are not kept
   * @returns one for each node, in their order; only valid until the next question
   */
  of(
    nodes: readonly NodeInfo[],
    key: string | undefined,
    find: (pods: readonly PodInfo[]) => T,
  ): readonly T[] {
    if (key === undefined) return nodes.map((node) => find(this.podsOf(node)));
    const { lists, values } = this.answersTo(key);
    for (let place = 0; place < nodes.length; place++) {
      const pods = this.podsOf(nodes[place]!);
      if (lists[place] === pods) continue;
      lists[place] = pods;
      values[place] = find(pods);
    }
    lists.length = nodes.length;
    values.length = nodes.length;
    return values;
  }

  /** What was asked longest ago is dropped first. */
  private answersTo(key: string): Answers<T> {
    const answers = this.known.get(key) ?? { lists: [], values: [] };
    this.known.delete(key);
    this.known.set(key, answers);
    const [oldest = key] = this.known.size > MOST_KEPT ? this.known.keys() : [];
    if (oldest !== key) this.known.delete(oldest);
    return answers;
  }
}
