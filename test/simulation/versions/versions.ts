import { pathToFileURL } from 'node:url';
import type {
  Kernel,
  RunningReplica,
  SimulatedProcess,
  World,
} from '../../../src/testing/simulation/index.js';
import type * as Door from './door.js';
import type { ReplicaPorts } from './door.js';

/** The product of another revision, loaded. */
export type OtherVersion = Pick<typeof Door, 'join' | 'startReplica'>;

/** Loads the module that `loadableVersion` has made. */
export function loadOther(module: string): Promise<OtherVersion> {
  return import(/* @vite-ignore */ pathToFileURL(module).href) as Promise<OtherVersion>;
}

/** The share of restarts that bring the other version. */
const OTHER_SHARE = 0.5;
/** One or two of three replicas are of the other version at first: the number of such choices, whose bits are the replicas. */
const CHOICES = 6;

/**
 * Whether a process is of the other version: one or two of the first three are, and each restart chooses again, so that there are
 * upgrades and downgrades, one replica after the other.
 * @param name `replica-1.2`: the second life of a replica
 */
export function isOfOther(kernel: Pick<Kernel, 'randomOf'>, name: string): boolean {
  const [, index = '0', life = '1'] = /^replica-(\d+)\.(\d+)$/.exec(name) ?? [];
  const isFirst = Number(life) === Number(index) + 1;
  if (!isFirst) return kernel.randomOf(`version of ${name}`).next() < OTHER_SHARE;
  const chosen = 1 + Math.floor(kernel.randomOf('first versions').next() * CHOICES);
  return ((chosen >> Number(index)) & 1) === 1;
}

/** The replicas of another version in a world. */
export class OtherReplicas {
  private leave: (() => void) | undefined;

  /** @param portsOf what a replica gets beside its process, its connections and its coordination */
  constructor(
    private readonly other: OtherVersion,
    private readonly portsOf: (
      process: SimulatedProcess,
    ) => Omit<ReplicaPorts, 'process' | 'connections' | 'coordination'>,
  ) {}

  /** Starts the replica of a process, if it is of the other version. */
  start(process: SimulatedProcess, world: World): Promise<RunningReplica> | undefined {
    const { kernel, store } = world;
    if (!isOfOther(kernel, process.name)) return undefined;
    kernel.note(process.name, process.name, 'is of the other version');
    const { redis } = store;
    this.leave ??= this.other.join({
      atTurn: (turn) => kernel.atTurn(turn),
      ...(redis && { redis }),
    });
    return this.other.startReplica({
      ...this.portsOf(process),
      process,
      connections: world.apiNetwork.connectionsOf(process),
      coordination: redis ? { redisUrl: redis.url } : 'leases',
    });
  }

  /** The modules of the other version run by themselves again. */
  close(): void {
    this.leave?.();
  }
}
