import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, shardHash, shardIndexOf } from '../../src/machinery/kubernetes/index.js';
import { NO_REPLICA } from '../../src/runtime/slots/index.js';
import type { AssignedSlot } from '../../src/runtime/slots/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { ManagedProcess } from '../../test/chaos/set/managed-process.js';
import type { WatchedDeployments, WatchedPods } from './deployments.js';
import type { MeasuredReplicas } from './measured-replicas.js';
import { slotsOf } from './measured-replicas.js';
import { printRow, printTitles, quantileOf, rangeOf } from './table.js';

interface SlotKillsParts {
  readonly replicas: MeasuredReplicas;
  readonly client: HttpApiClient;
  readonly deployments: WatchedDeployments;
  readonly pods: WatchedPods;
  /** The namespaces, each with a Deployment `web`. */
  readonly names: readonly string[];
}

interface SlotKillsOptions {
  readonly kills: number;
  readonly midst: number;
  /** The pods of a Deployment, or one more. */
  readonly pods: number;
}

/** Milliseconds since a kill, or since changes without one. */
interface Gap {
  /** All slots of the replica have another owner in the table. */
  readonly moved: number;
  /** The first of the changes in its namespaces is observed. */
  readonly first: number;
  readonly all: number;
}

const POLL_MS = 5;
/** So many ends and starts of a replica are waited for until the slots are balanced again, so that its slots can be counted. */
const BALANCED = 3;
const CALM = 5;

/** Kills replicas that do not lead, one after the other, and measures how soon changes in their namespaces are answered by others. */
export class SlotKills {
  private readonly sizes = new Map<string, number>();
  private asked = 0;

  constructor(private readonly parts: SlotKillsParts) {}

  async print(options: SlotKillsOptions): Promise<void> {
    const { pods, replicas } = this.parts;
    const calm: Gap[] = [];
    const after: Gap[] = [];
    const midst: Gap[] = [];
    const ends: number[] = [];
    const starts: number[] = [];
    const madeBefore = pods.made;
    for (let index = 0; index < CALM; index++) {
      const { names } = await this.victim(index, await replicas.untilHeld());
      calm.push(await this.gapOf(names, options.pods));
    }
    for (let kill = 0; kill < options.kills; kill++) {
      const before = kill < BALANCED ? await replicas.untilBalanced() : await replicas.untilHeld();
      const { names, victim } = await this.victim(kill, before);
      const isInMidst = kill >= options.kills - options.midst;
      (isInMidst ? midst : after).push(
        await this.gapOf(names, options.pods, { victim, slots: before, isInMidst }),
      );
      const without = await (await replicas.slotTable()).read();
      ends.push(movesBetween(before, without));
      if (kill < BALANCED) starts.push(movesBetween(without, await replicas.untilBalanced()));
    }
    await replicas.untilHeld();
    const made = pods.made - madeBefore;
    const count = (await (await replicas.slotTable()).read()).length;
    const both = (gaps: readonly Gap[], what: keyof Gap): string =>
      gaps.length === 0
        ? ''
        : [0.5, 0.99]
            .map((share) =>
              quantileOf(
                gaps.map((gap) => gap[what]),
                share,
              ).toFixed(0),
            )
            .join(', ');
    printTitles(
      `Kills of replicas that do not lead; p50 and p99 in milliseconds. S/N is ${(count / replicas.all.length).toFixed(1)}.`,
      ...['replicas', 'slots', 'kills', 'slots moved when one ends', 'slots moved when one starts'],
      ...[
        'slots have other owners',
        'first change answered',
        'all changes answered',
        'without a kill, all answered',
      ],
      ...[
        'killed while changes are answered: kills',
        'all changes answered',
        'pods asked for',
        'pods made',
        'made twice',
      ],
    );
    printRow(
      ...[replicas.all.length, count, after.length].map(String),
      ...[rangeOf(ends), rangeOf(starts)],
      ...[both(after, 'moved'), both(after, 'first'), both(after, 'all'), both(calm, 'all')],
      ...[String(midst.length), both(midst, 'all')],
      ...[this.asked, made, made - this.asked].map(String),
    );
  }

  /** A replica that does not lead and owns slots with namespaces. Another one for the next number. */
  private async victim(
    index: number,
    slots: readonly AssignedSlot[],
  ): Promise<{ readonly victim: ManagedProcess; readonly names: readonly string[] }> {
    const { names, replicas } = this.parts;
    const leader = await replicas.leader();
    const candidates = replicas.all.flatMap((victim) => {
      const owned = new Set(slotsOf(victim, slots));
      const own = names.filter((name) => owned.has(shardIndexOf(shardHash(name), slots.length)));
      return victim !== leader && own.length > 0 ? [{ victim, names: own }] : [];
    });
    const chosen = candidates[index % candidates.length];
    if (!chosen) throw new Error('no replica beside the leader owns a slot with a namespace');
    return chosen;
  }

  /** Gives each Deployment of the namespaces a pod more or less, with a replica killed right before or after that. */
  private async gapOf(
    names: readonly string[],
    podsEach: number,
    kill?: {
      readonly victim: ManagedProcess;
      readonly slots: readonly AssignedSlot[];
      readonly isInMidst: boolean;
    },
  ): Promise<Gap> {
    if (kill?.isInMidst) await this.resize(names, podsEach);
    const beganMs = performance.now();
    kill?.victim.signal('SIGKILL');
    const moving = kill ? this.moved(slotsOf(kill.victim, kill.slots), kill.slots) : Promise.resolve();
    const movedAt = moving.then(() => performance.now() - beganMs);
    if (!kill?.isInMidst) await this.resize(names, podsEach);
    const answers = await this.answered(names, beganMs);
    return { moved: await movedAt, ...answers };
  }

  private async resize(names: readonly string[], podsEach: number): Promise<void> {
    await Promise.all(
      names.map((namespace) => {
        const isLarge = this.sizes.get(namespace) === podsEach + 1;
        const replicas = isLarge ? podsEach : podsEach + 1;
        this.sizes.set(namespace, replicas);
        if (!isLarge) this.asked++;
        return this.parts.client.patch(
          Deployment,
          { namespace, name: 'web' },
          { type: 'merge', body: { spec: { replicas } } },
        );
      }),
    );
  }

  private async moved(owned: readonly number[], before: readonly AssignedSlot[]): Promise<void> {
    const table = await this.parts.replicas.slotTable();
    const haveMoved = async (): Promise<boolean> => {
      const now = await table.read();
      return owned.every((slot) => {
        const owner = now[slot]?.owner ?? NO_REPLICA;
        return owner !== NO_REPLICA && owner !== before[slot]?.owner;
      });
    };
    await waitFor(haveMoved, {
      timeoutMs: 120_000,
      intervalMs: POLL_MS,
      what: 'the slots to have other owners',
    });
  }

  /** Resolves once the Deployments have so many pods as they were last asked for. */
  private async answered(names: readonly string[], beganMs: number): Promise<Omit<Gap, 'moved'>> {
    let first: number | undefined;
    let all = 0;
    const waiting = new Set(names);
    const areAnswered = (): boolean => {
      let isDone = true;
      for (const { metadata, spec, status } of this.parts.deployments.list()) {
        const { generation, namespace = '' } = metadata;
        if (!names.includes(namespace)) continue;
        const isAsked = spec.replicas === this.sizes.get(namespace);
        if (waiting.has(namespace) && isAsked && status?.observedGeneration === generation) {
          waiting.delete(namespace);
          all = performance.now() - beganMs;
          first ??= all;
        }
        isDone &&=
          isAsked && status?.availableReplicas === spec.replicas && status?.replicas === spec.replicas;
      }
      return isDone && waiting.size === 0;
    };
    await waitFor(areAnswered, {
      timeoutMs: 120_000,
      intervalMs: POLL_MS,
      what: 'the changes to be answered',
    });
    return { first: first ?? 0, all };
  }
}

/** Slots whose owner is another replica; a replica that was started again is the same one. */
function movesBetween(before: readonly AssignedSlot[], after: readonly AssignedSlot[]): number {
  const nameOf = (owner = ''): string => owner.replace(/_.*/, '');
  return before.filter(({ owner }, slot) => nameOf(owner) !== nameOf(after[slot]?.owner)).length;
}
