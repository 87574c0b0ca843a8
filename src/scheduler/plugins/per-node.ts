import type { NodeInfo, PodInfo } from '../framework/node-info.js';

/*
 * The findings about the pods of a node are kept until these pods change. Lists of pods are never changed in
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

/** The last answer for a node. */
interface LastAnswer<T> {
  readonly pods: readonly PodInfo[];
  readonly answer: T;
}

/**
 * How many pods are counted, found out from what differs from the last list. A node's pods change one at a time, the new ones at the end,
 * so that most are where they were; lists without such an order cost more and have the same count.
 * @param isCounted always answers the same of the same pod
 */
export function countPodsSince(
  { answer, pods: before }: LastAnswer<number>,
  pods: readonly PodInfo[],
  isCounted: (pod: PodInfo) => boolean,
): number {
  let count = answer;
  let same = 0;
  for (const pod of before)
    if (pod === pods[same]) same++;
    else if (isCounted(pod)) count--;
  for (let place = same; place < pods.length; place++) if (isCounted(pods[place]!)) count++;
  return count;
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
   * @param find may use what was last answered for the node
   * @returns one for each node, in their order; only valid until the next question
   */
  of(
    nodes: readonly NodeInfo[],
    key: string | undefined,
    find: (pods: readonly PodInfo[], last?: LastAnswer<T>) => T,
  ): readonly T[] {
    if (key === undefined) return nodes.map((node) => find(this.podsOf(node)));
    const { lists, values } = this.answersTo(key);
    for (let place = 0; place < nodes.length; place++) {
      const pods = this.podsOf(nodes[place]!);
      const last = lists[place];
      if (last === pods) continue;
      values[place] = last ? find(pods, { pods: last, answer: values[place]! }) : find(pods);
      lists[place] = pods;
    }
    lists.length = nodes.length;
    values.length = nodes.length;
    return values;
  }

  /** The answers that were asked for longest ago are dropped first. */
  private answersTo(key: string): Answers<T> {
    const answers = this.known.get(key) ?? { lists: [], values: [] };
    this.known.delete(key);
    this.known.set(key, answers);
    const [oldest = key] = this.known.size > MOST_KEPT ? this.known.keys() : [];
    if (oldest !== key) this.known.delete(oldest);
    return answers;
  }
}
