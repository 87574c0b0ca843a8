import type { Act, PlannedAct } from './plan.js';
import { LIFETIME_NAMES, shapeOf } from './shapes.js';

/** The parts of a run that the exam needs. */
export interface LifetimesExam {
  /** Lets a user do this, and time pass until it is done. */
  readonly act: (planned: PlannedAct) => Promise<void>;
  /** Lets so much time pass, milliseconds. */
  readonly pass: (ms: number) => Promise<void>;
  /** Waits until everything is at rest. */
  readonly rest: () => Promise<void>;
  /** The sessions of all pods that drain last from now on. */
  readonly holdSessions: () => void;
}

/** The chances by which each next mesh changes another of its parts: one more than there may be restarts in a day. */
const MESHES = [
  [0, 0],
  [0.5, 0.99],
  [0.7, 0.99],
  [0.9, 0],
] as const;
/** A pod that has been ready for so long has to drain, milliseconds: every cache shows it. */
const READY_FOR_MS = 31_000;
/** Chances: of half as many replicas as may be, and of an image that becomes ready. */
const [HALF, WORKS] = [0.5, 0.99];

/**
 * All Deployments get one version after the other while sessions last: by restarts, where they ask for those,
 * and else by users. By chance, a run has too few rollouts for the limits of drains and of restarts, and too few pods that
 * have been ready for long.
 */
export async function examineLifetimes({ act, holdSessions, pass, rest }: LifetimesExam): Promise<void> {
  const actOnEach = async (what: Act, names = LIFETIME_NAMES): Promise<void> => {
    for (const name of names) await act({ act: what, atMs: 0, name, dice: [HALF, WORKS, 0, 0] });
    await rest();
  };
  const notRestarted = LIFETIME_NAMES.filter(
    (name) => shapeOf(name).policies?.['rollkeeper.dev/restart-on'] === undefined,
  );
  holdSessions();
  await actOnEach('create or update');
  await actOnEach('scale');
  await pass(READY_FOR_MS);
  for (const [what, more] of MESHES) {
    await act({ act: 'upgrade the mesh', atMs: 0, name: LIFETIME_NAMES[0]!, dice: [what, more, 0, 0] });
    await actOnEach('create or update', notRestarted);
  }
  await actOnEach('create or update');
}
