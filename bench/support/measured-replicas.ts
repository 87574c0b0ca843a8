import { join } from 'node:path';
import { NO_REPLICA } from '../../src/runtime/slots/index.js';
import type { AssignedSlot } from '../../src/runtime/slots/index.js';
import { withMemoryDefaults } from '../../src/machinery/process/index.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import { RedisSlotTable } from '../../src/redis/slots/redis-slot-table.js';
import { askStatus, failingChecks } from '../../src/rollkeeper/replica/supervisor/replica-probe.js';
import type { ReplicaStatus } from '../../src/rollkeeper/admin/server/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { ManagedProcess } from '../../test/chaos/set/managed-process.js';

export interface MeasuredReplicasOptions {
  readonly count: number;
  /** 0: none, and every replica keeps everything. */
  readonly slots: number;
  readonly kubeconfig: string;
  readonly redisUrl: string;
  /** The folder of their logs. */
  readonly dir: string;
  /** More arguments of `rollkeeper controller`. */
  readonly args: readonly string[];
  /** The folder for profiles of their CPU. @default none are made */
  readonly profiles?: string;
}

/** Started at the same time: more of them would only take turns on two processors. */
const STARTED_AT_ONCE = 3;
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

/** Replicas of the built program, with their slots. One that dies is started again at once. */
export class MeasuredReplicas {
  readonly all: readonly ManagedProcess[];
  private table: RedisSlotTable | undefined;

  private constructor(private readonly options: MeasuredReplicasOptions) {
    this.all = Array.from({ length: options.count }, (_, index) => processOf(`controller-${index}`, options));
  }

  /** Resolves once all of them are ready, one leads, and they share the slots. */
  static async start(options: MeasuredReplicasOptions): Promise<MeasuredReplicas> {
    const replicas = new MeasuredReplicas(options);
    try {
      const waiting = [...replicas.all];
      while (waiting.length > 0)
        await Promise.all(waiting.splice(0, STARTED_AT_ONCE).map((replica) => replica.start()));
      await waitFor(() => replicas.areReady(), {
        ...{ timeoutMs: 120_000, intervalMs: 100, what: 'the replicas to be ready' },
      });
      if (options.slots > 0) await replicas.untilBalanced();
      return replicas;
    } catch (error) {
      await replicas.stop();
      throw error;
    }
  }

  /** The table of slots, as a client beside the replicas. */
  async slotTable(): Promise<RedisSlotTable> {
    if (this.table) return this.table;
    const { redisUrl, slots } = this.options;
    const redis = createRedisConnection({ url: redisUrl, connectionName: 'bench', mode: 'blocking' });
    const name = `slots-${slots}`;
    const [key = ''] = (await redis.keys(`*${name}`)).filter((each) => each.endsWith(`:${name}`));
    redis.disconnect();
    this.table = new RedisSlotTable({
      url: redisUrl,
      name,
      keyPrefix: key.slice(0, key.length - name.length),
    });
    return this.table;
  }

  /** Every slot has an owner and a standby that live, both copies are current, and all replicas live. */
  async untilHeld(): Promise<readonly AssignedSlot[]> {
    const table = await this.slotTable();
    const held = async (): Promise<readonly AssignedSlot[] | undefined> => {
      const [slots, members] = await Promise.all([table.read(), table.members()]);
      const isHeldBy = (replica: string, slot: number): boolean =>
        members.some((member) => member.replica === replica && member.current.includes(slot));
      const areHeld = slots.every(
        ({ owner, standby }, slot) =>
          isHeldBy(owner, slot) && (this.all.length === 1 ? standby === NO_REPLICA : isHeldBy(standby, slot)),
      );
      return members.length === this.all.length && slots.length > 0 && areHeld ? slots : undefined;
    };
    return waitFor(held, { timeoutMs: 180_000, intervalMs: 50, what: 'all slots to be held' });
  }

  /** {@link untilHeld}, and nothing moved for a while. */
  async untilBalanced(): Promise<readonly AssignedSlot[]> {
    let slots = await this.untilHeld();
    const fair = Math.floor(slots.length / this.all.length);
    for (;;) {
      const before = slots;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      slots = await this.untilHeld();
      const isSame = slots.every(
        ({ owner, standby }, slot) => owner === before[slot]?.owner && standby === before[slot].standby,
      );
      if (isSame && this.all.every((replica) => slotsOf(replica, slots).length >= Math.min(1, fair)))
        return slots;
    }
  }

  /** The status of each, in their order. */
  statuses(): Promise<readonly (ReplicaStatus | undefined)[]> {
    return Promise.all(this.all.map(({ adminUrl }) => askStatus({ adminUrl })));
  }

  /** The metrics of each, in their order. */
  pages(): Promise<readonly string[]> {
    return Promise.all(this.all.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()));
  }

  async leader(): Promise<ManagedProcess> {
    const find = async (): Promise<ManagedProcess | undefined> => {
      const statuses = await this.statuses();
      return this.all.find((_, index) => statuses[index]?.leader);
    };
    return waitFor(find, { timeoutMs: 60_000, intervalMs: 50, what: 'a leader' });
  }

  async stop(): Promise<void> {
    this.table?.close();
    await Promise.all(this.all.map((replica) => replica.stop()));
  }

  private async areReady(): Promise<boolean> {
    const failing = await Promise.all(this.all.map(({ adminUrl }) => failingChecks({ adminUrl })));
    if (!failing.every((checks) => checks?.length === 0)) return false;
    return (await this.statuses()).some((status) => status?.leader);
  }
}

/** The slots that a replica owns by the table. */
export function slotsOf(
  { name }: Pick<ManagedProcess, 'name'>,
  slots: readonly AssignedSlot[],
): readonly number[] {
  return slots.flatMap(({ owner }, slot) => (owner.startsWith(`${name}_`) ? [slot] : []));
}

function processOf(name: string, options: MeasuredReplicasOptions): ManagedProcess {
  const { args, dir, kubeconfig, profiles, redisUrl, slots } = options;
  return new ManagedProcess({
    name,
    main: MAIN,
    args: ['controller', '--kubeconfig', kubeconfig, '--identity', name, '--slots', String(slots), ...args],
    env: withMemoryDefaults({ ...process.env, REDIS_URL: redisUrl }),
    execArgv: [
      ...['--import', join(import.meta.dirname, 'counted-bytes.mjs')],
      ...(profiles === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles]),
    ],
    logFile: join(dir, `${name}.log`),
  });
}
