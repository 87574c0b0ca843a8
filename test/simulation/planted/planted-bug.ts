import type { FaultKind, WorldKind } from '../plan.js';

/** A small patch of the product that breaks a promise, to prove that the simulation would find such a bug. */
export interface PlantedBug {
  /** Unique; used in imports. */
  readonly name: string;
  /** The consequence, as a sentence. */
  readonly breaks: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file: a patch whose place has changed fails its test instead of planting nothing. */
  readonly from: string;
  readonly to: string;
}

/** A bug that a model of test/simulation/model finds. */
export interface ModelBug extends PlantedBug {
  readonly model: 'lease' | 'lock' | 'queue' | 'intents' | 'unanswered';
  /** The number of faults with which it must be found. */
  readonly withinFaults: number;
}

/** A bug that the simulated world finds. */
export interface WorldBug extends PlantedBug {
  /** The kinds of faults under which it is sought, beside users and the exams after the last fault. */
  readonly under: readonly FaultKind[];
  /** @default 'plain' */
  readonly world?: WorldKind;
  /** Whether it is sought with slots, on a simulated Redis. @default false */
  readonly slots?: boolean;
  /** The seed with which the search begins. @default 1 */
  readonly firstSeed?: number;
  /** The number of seeds within which it must be found, from the first on. */
  readonly withinSeeds: number;
}

/** Chooses between the bugs of a text with switches. */
const CHOSEN = Symbol.for('rollkeeper.planted-bug');
const chooser = globalThis as { [CHOSEN]?: string };

/** Runs with a bug whose switch is in the loaded modules. One at a time. */
export async function withChosen<T>({ name }: PlantedBug, run: () => Promise<T>): Promise<T> {
  chooser[CHOSEN] = name;
  try {
    return await run();
  } finally {
    delete chooser[CHOSEN];
  }
}

/**
 * The text with a switch for each of the bugs, all of which are off until one is chosen. A patch has to replace one
 * expression by another, or whole statements.
 * @throws Error if the place of a patch does not occur exactly once
 */
export function withSwitches(text: string, bugs: readonly PlantedBug[]): string {
  return bugs.reduce((before, bug) => {
    const { from, name, to } = bug;
    const isChosen = `globalThis[Symbol.for('rollkeeper.planted-bug')] === '${name}'`;
    const either = from.endsWith(';')
      ? `if (${isChosen}) { ${to} } else { ${from} }`
      : `(${isChosen} ? ${to} : ${from})`;
    return withPatch(before, { ...bug, to: either });
  }, text);
}

/**
 * The text with the bug in it.
 * @throws Error if the place of the patch does not occur exactly once
 */
export function withPatch(text: string, { file, from, name, to }: PlantedBug): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0) {
    const found = text.split(from).length - 1;
    throw new Error(
      `the bug "${name}" cannot be planted: its text occurs ${found} times in ${file}, not once`,
    );
  }
  return `${before}${to}${after}`;
}
