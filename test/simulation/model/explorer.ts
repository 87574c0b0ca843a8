/**
 * One step of a model. `says` is a plain sentence without its full stop. A step that is no fault may be needed for
 * progress: see {@link Model.goal}.
 */
export interface Step<State> {
  readonly says: string;
  readonly to: State;
  /** Faults and acts of users: not needed for progress, and no promise depends on them. @default false */
  readonly isFault?: boolean;
}

/** A system of few parts, whose states and steps can all be enumerated. States are plain values and never changed. */
export interface Model<State> {
  readonly name: string;
  readonly initial: State;
  /** All that can happen next. */
  steps(state: State): readonly Step<State>[] | Promise<readonly Step<State>[]>;
  /** A text that two states share if and only if they behave alike from now on. */
  fingerprint(state: State): string;
  /** The promise that the state breaks, as a sentence; undefined if it keeps all. */
  violation(state: State): string | undefined;
  /** The state to which every state must be able to get without another fault. @default none is asked for */
  readonly goal?: {
    /** `the change is seen`. */
    readonly says: string;
    isReached(state: State): boolean;
  };
}

/** The result of an exploration that found nothing. */
export interface Explored {
  readonly states: number;
  readonly steps: number;
  /** The length of the longest shortest path. */
  readonly depth: number;
}

/** A promise is broken. The message has the shortest path that leads there, in sentences. */
export class ModelViolation extends Error {
  override readonly name = 'ModelViolation';

  constructor(
    model: string,
    /** The broken promise. */
    readonly promise: string,
    /** The steps that led there, in order. */
    readonly path: readonly string[],
  ) {
    const lines = path.map((says, index) => `  ${index + 1}. ${says}.`);
    super(`${promise} (model of the ${model}, after ${path.length} steps)\n${lines.join('\n')}`);
  }
}

interface Seen<State> {
  readonly state: State;
  /** Index of the state that it was first reached from; -1 for the initial one. */
  readonly from: number;
  readonly says: string;
  readonly depth: number;
}

/** A model with more states than this is not small. */
const MOST_STATES = 3_000_000;

/**
 * Visits every reachable state, those with the shortest paths first.
 * @throws ModelViolation for the first promise that is broken, with the shortest path to it
 */
export async function explore<State>(model: Model<State>): Promise<Explored> {
  const seen: Seen<State>[] = [];
  const indexOf = new Map<string, number>();
  /** By state, those that lead to it without a fault. */
  const leadingTo: number[][] = [];
  let steps = 0;
  const visit = (state: State, from: number, says: string): number => {
    const text = model.fingerprint(state);
    const known = indexOf.get(text);
    if (known !== undefined) return known;
    const index = seen.length;
    if (index >= MOST_STATES) throw new Error(`the model of the ${model.name} has too many states`);
    indexOf.set(text, index);
    seen.push({ state, from, says, depth: (seen[from]?.depth ?? -1) + 1 });
    leadingTo.push([]);
    const broken = model.violation(state);
    if (broken !== undefined) throw new ModelViolation(model.name, broken, pathTo(index, seen));
    return index;
  };
  visit(model.initial, -1, '');
  for (let index = 0; index < seen.length; index++) {
    const { state } = seen[index] as Seen<State>;
    for (const { isFault = false, says, to } of await model.steps(state)) {
      const next = visit(to, index, says);
      if (!isFault) leadingTo[next]?.push(index);
      steps++;
    }
  }
  if (model.goal) assertGoal(model, model.goal, seen, leadingTo);
  return { states: seen.length, steps, depth: seen.at(-1)?.depth ?? 0 };
}

/** One line for people. */
export function describeExplored(name: string, faults: number, { depth, states, steps }: Explored): string {
  return `the model of the ${name} with up to ${faults} faults has ${states} states and ${steps} steps, at most ${depth} from the first`;
}

/** From every state there must be a way to the goal without another fault: searched backwards from the goal. */
function assertGoal<State>(
  { name }: Model<State>,
  goal: NonNullable<Model<State>['goal']>,
  seen: readonly Seen<State>[],
  leadingTo: readonly (readonly number[])[],
): void {
  const canReach = new Uint8Array(seen.length);
  const queue: number[] = [];
  for (const [index, { state }] of seen.entries()) {
    if (!goal.isReached(state)) continue;
    canReach[index] = 1;
    queue.push(index);
  }
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    for (const before of leadingTo[index] ?? []) {
      if (canReach[before]) continue;
      canReach[before] = 1;
      queue.push(before);
    }
  }
  const stuck = canReach.indexOf(0);
  if (stuck < 0) return;
  const promise = `It can happen no more that ${goal.says}, although nothing else fails`;
  throw new ModelViolation(name, promise, pathTo(stuck, seen));
}

function pathTo<State>(index: number, seen: readonly Seen<State>[]): string[] {
  const path: string[] = [];
  for (let at = seen[index]; at && at.from >= 0; at = seen[at.from]) path.unshift(at.says);
  return path;
}
