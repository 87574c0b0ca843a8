import { z } from 'zod';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { LinkedAbort, isAborted } from '@rollkeeper/machinery/cancellation';
import { ShutdownError, UnsupportedError, hasCode } from '@rollkeeper/machinery/errors';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Peer } from './admin-ports.js';
import type { CallerPass } from './caller-pass.js';
import { ofOneReplica } from './caller-pass.js';
import type { FeedEvent, QueueSummary, RowChanges, Viewer } from './feed-events.js';
import { MergedRows } from './merged-rows.js';
import type { OtherReplicas } from './other-replicas.js';
import { COUNTS_SCHEMA, addedCounts } from './peer-answers.js';
import { peerProblem } from './peer-client.js';
import type { MissingReplica, SlotReplicas } from './slot-replicas.js';
import { NOT_ANNOUNCED } from './slot-replicas.js';

/** How often the owners, and rows without an owner, are checked, milliseconds. */
const LOOK_MS = 500;
/** After a stream has ended, until the next one. */
const AGAIN_MS = 1000;
/** After other pages of the same user have taken its place. */
const GIVEN_WAY_MS = 30_000;
/**
 * After a replica has refused the credential of the viewer. Each further refusal counts there as a wrong token from the address of the
 * viewer, and too many of them would lock out all other users at that address.
 */
const REFUSED_MS = 600_000;
/** A replica sends something twice a second. */
const SILENCE_MS = 6000;
/** A replica that has not listed its rows by then is named, and the list is shown without them. */
const LISTED_WITHIN_MS = 3000;
const PARKED_SHOWN = 100;
/** This replica, among the sources of rows. */
const SELF = '';

interface SlotFeedParts {
  readonly clock: Clock;
  readonly others: Pick<OtherReplicas, 'client'>;
  readonly replicas: Pick<SlotReplicas, 'owners' | 'unowned'>;
  readonly viewer: Viewer;
  /** The rights of the viewer. */
  readonly pass: CallerPass;
}

/** The stream of the rows of another replica. */
interface Source {
  readonly stop: LinkedAbort;
  readonly peer: Peer;
  readonly beganMs: number;
  slots: number;
  isListed: boolean;
  /** Why there is none now. */
  problem: string | undefined;
  queues: readonly QueueSummary[];
}

/**
 * The console of one viewer where slots spread the rollouts over replicas: rows and queues from this replica, and by one stream each, with
 * the rights of the viewer, from all others that own slots.
 */
export class SlotFeed implements Viewer {
  private readonly rows: MergedRows;
  private readonly sources = new Map<string, Source>();
  private unannounced: readonly MissingReplica[] = [];
  private ownListedMs: number | undefined;
  private hasLooked = false;
  private isListed = false;
  private told = '';

  constructor(private readonly parts: SlotFeedParts) {
    this.rows = new MergedRows(parts.clock);
  }

  /** Takes an event of this replica. */
  send(event: FeedEvent): void {
    const { clock, viewer } = this.parts;
    if (event.type === 'deployments') this.show(this.rows.take(SELF, event));
    else if (event.type === 'cluster') viewer.send({ ...event, queues: this.withQueues(event.queues) });
    else if (event.type !== 'listed') viewer.send(event);
    else {
      this.ownListedMs = clock.monotonicNow();
      this.tellListed();
    }
  }

  drained(): Promise<void> {
    return this.parts.viewer.drained();
  }

  /** Follows the owners until aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    while (!isAborted(signal)) {
      await this.look(signal).catch(() => undefined);
      this.show({ changed: [], gone: this.rows.expired() });
      this.tellMissing();
      this.tellListed();
      await pause(clock, LOOK_MS, signal);
    }
  }

  private async look(signal: AbortSignal): Promise<void> {
    const owners = await this.parts.replicas.owners();
    if (isAborted(signal)) return;
    this.hasLooked = true;
    const wanted = new Map(
      owners.flatMap(({ identity, peer, slots }) => (peer ? [[identity, { peer, slots }] as const] : [])),
    );
    for (const [identity, { peer, stop }] of this.sources) {
      if (wanted.get(identity)?.peer.startedAtMs === peer.startedAtMs) continue;
      stop.abort(new ShutdownError('the replica owns no slots any more, or has restarted'));
      this.sources.delete(identity);
      this.rows.lose(identity);
    }
    for (const [identity, { peer, slots }] of wanted) {
      const known = this.sources.get(identity);
      if (known) known.slots = slots;
      else void this.follow(identity, { peer, slots }, signal);
    }
    this.unannounced = owners.flatMap(({ identity, peer, slots }) =>
      peer ? [] : [{ identity, slots, problem: NOT_ANNOUNCED }],
    );
  }

  private async follow(
    identity: string,
    owner: Pick<Source, 'peer' | 'slots'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.parts;
    const stop = new LinkedAbort(signal);
    const began = { beganMs: clock.monotonicNow(), isListed: false, problem: undefined, queues: [] };
    const source: Source = { ...owner, ...began, stop };
    this.sources.set(identity, source);
    while (!isAborted(stop.signal)) {
      const againMs = await this.read(identity, source);
      if (isAborted(stop.signal)) break;
      this.rows.lose(identity);
      source.queues = [];
      this.tellListed();
      await pause(clock, againMs, stop.signal);
    }
    stop.close();
  }

  /** Reads one stream to its end. Returns after which time to begin another one, milliseconds. */
  private async read(identity: string, source: Source): Promise<number> {
    const { others, pass, viewer } = this.parts;
    const { peer, stop } = source;
    const asked = { ...pass, path: ofOneReplica('/admin/events'), withinMs: SILENCE_MS };
    try {
      for await (const told of others.client.events(peer, asked, stop.signal)) {
        const event = eventOf(told);
        if (isAborted(stop.signal)) return AGAIN_MS;
        if (event.type === 'gave-way') {
          source.problem = 'too many pages of the same user ask it';
          return GIVEN_WAY_MS;
        }
        this.take(identity, source, event);
        await viewer.drained();
      }
      source.problem = 'it has ended the stream of its rows';
    } catch (error) {
      source.problem = peerProblem(error);
      if (hasCode(error, 'CREDENTIAL_REFUSED')) return REFUSED_MS;
    }
    return AGAIN_MS;
  }

  private take(identity: string, source: Source, event: FeedEvent): void {
    if (event.type === 'deployments') this.show(this.rows.take(identity, event));
    else if (event.type === 'queues') source.queues = event.queues;
    else if (event.type === 'listed') {
      source.isListed = true;
      source.problem = undefined;
      this.tellListed();
    }
  }

  private show({ changed, gone }: RowChanges): void {
    if (changed.length > 0 || gone.length > 0) this.parts.viewer.send({ type: 'deployments', changed, gone });
  }

  /** Once, when each source has listed its rows, or is named as missing. */
  private tellListed(): void {
    if (this.isListed || this.ownListedMs === undefined || !this.hasLooked) return;
    const waitedMs = this.parts.clock.monotonicNow() - this.ownListedMs;
    const awaitsOne = [...this.sources.values()].some(
      ({ isListed, problem }) => !isListed && problem === undefined,
    );
    if (awaitsOne && waitedMs < LISTED_WITHIN_MS) return;
    this.isListed = true;
    this.parts.viewer.send({ type: 'listed' });
  }

  private tellMissing(): void {
    const replicas = [...this.unannounced, ...this.silent()];
    const unowned = this.parts.replicas.unowned();
    const text = JSON.stringify([replicas, unowned]);
    const isFirst = this.told === '';
    if (text === this.told || (isFirst && replicas.length === 0 && unowned === 0)) return;
    this.told = text;
    this.parts.viewer.send({ type: 'missing', replicas, unowned });
  }

  private silent(): readonly MissingReplica[] {
    const nowMs = this.parts.clock.monotonicNow();
    return [...this.sources].flatMap(([identity, { beganMs, isListed, problem, slots }]) => {
      const isLate = !isListed && nowMs - beganMs >= LISTED_WITHIN_MS;
      const why = problem ?? (isLate ? 'it has not listed its rollouts yet' : undefined);
      return why === undefined ? [] : [{ identity, slots, problem: why }];
    });
  }

  private withQueues(own: readonly QueueSummary[]): readonly QueueSummary[] {
    const others = [...this.sources.values()].flatMap(({ queues }) => queues);
    return own.map((queue) => {
      const all = [queue, ...others.filter(({ controller }) => controller === queue.controller)];
      const parked = all.flatMap((each) => each.parked).slice(0, PARKED_SHOWN);
      return { controller: queue.controller, counts: addedCounts(all.map(({ counts }) => counts)), parked };
    });
  }
}

const KEYS = z.array(z.string());
/** The parts of events that are read here. The other replica may be of another release; the rest of its events is for the page. */
const READ_EVENTS = {
  deployments: z.object({
    changed: z.array(z.looseObject({ key: z.string() })),
    ...{ gone: KEYS, left: KEYS.optional() },
  }),
  queues: z.object({
    queues: z.array(
      z.object({
        controller: z.string(),
        counts: COUNTS_SCHEMA,
        parked: z.array(z.looseObject({ key: z.string() })),
      }),
    ),
  }),
};

/** @throws UnsupportedError if it is none of the console */
function eventOf(told: unknown): FeedEvent {
  const type = isJsonObject(told) ? told['type'] : undefined;
  const isRead = type === 'deployments' || type === 'queues';
  if (typeof type !== 'string' || (isRead && !READ_EVENTS[type].safeParse(told).success))
    throw new UnsupportedError('it answers with something else than events of the console');
  return told as FeedEvent;
}
