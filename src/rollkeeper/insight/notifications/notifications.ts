import type { HostRule, HttpSender, RolloutView } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import type { EventNote } from '@rollkeeper/client/events';
import { LinkedAbort, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, Secret } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { isTold, readTold, recordTold } from '../events/told-events.js';
import type { Channel, ServiceName } from './formats/channel.js';
import { ChannelError, readChannel } from './formats/channel.js';
import { NOTIFIED_WITHIN_MS, decideNotifications } from './decide-notifications.js';
import type { MailSender } from './mail-sender.js';
import type { Notification } from './formats/notification.js';
import { sendNotification } from './send.js';
import { Slots } from './slots.js';
import type { Slot } from './slots.js';

/** `failed` is one try; `dropped`: it was given up, because it was too old or there were too many. */
export interface NotificationResult {
  /** Absent if the channel could not be read. */
  readonly service?: ServiceName;
  readonly result: 'sent' | 'failed' | 'dropped';
}

export interface NotificationsOptions {
  readonly hosts: readonly HostRule[];
  readonly sender: HttpSender;
  readonly mail: MailSender;
  readonly client: Pick<ApiClient, 'get' | 'update'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** All Deployments, by keys of the caller. */
  readonly keys: () => readonly string[];
  /** The channels of one: asked at each change, so it has to be quick. */
  readonly channelsOf: (key: string) => readonly string[];
  /** The view of one; undefined if it no longer exists. */
  readonly viewOf: (key: string) => RolloutView | undefined;
  readonly isLeader: () => boolean;
  /** Origin of the console, for links. @default no links */
  readonly consoleUrl?: string;
  /** Records an Event. */
  readonly record: (about: DeepReadonly<KubernetesObject>, note: EventNote) => void;
  readonly onResult?: (result: NotificationResult) => void;
}

const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 300_000;
/** How soon a new leader begins. */
const LOOK_AT_LEADERSHIP_MS = 1000;

/**
 * Notifies the channels of Deployments: on the leader, beside the controllers, which wait for none of it. Events are collected as the
 * caches show them, so that one which passes quickly is not missed while a service is slow. The ReplicaSet records what a channel has
 * received, after it has received it: each channel gets each event once, and once more only if the process dies between the two.
 */
export class Notifications {
  private readonly slots = new Slots();
  private readonly deliveries = new Set<Promise<void>>();
  private wake: (() => void) | undefined;
  private wasLeader = false;

  constructor(private readonly options: NotificationsOptions) {}

  /** A Deployment, or what it owns, has changed. */
  note(key: string): void {
    const { channelsOf, consoleUrl, isLeader, onResult, viewOf } = this.options;
    const channels = isLeader() ? channelsOf(key) : [];
    const view = channels.length === 0 ? undefined : viewOf(key);
    if (!view) return;
    for (const notification of decideNotifications(view, consoleUrl)) {
      const told = readTold(notification.replicaSet.metadata.annotations, notification.revision);
      for (const channel of channels) {
        if (isTold(told, receiverOf(channel), notification.key)) continue;
        for (let left = this.slots.add(channel, notification); left > 0; left--)
          onResult?.({ result: 'dropped' });
      }
    }
    this.wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, isLeader, keys } = this.options;
    while (!isAborted(signal)) {
      const leads = isLeader();
      if (!leads) this.slots.clear();
      if (leads && !this.wasLeader) for (const key of keys()) this.note(key);
      this.wasLeader = leads;
      for (const slot of this.slots.take(clock.monotonicNow())) {
        const delivery: Promise<void> = this.deliver(slot, signal).finally(() => {
          this.deliveries.delete(delivery);
          this.slots.release(slot);
          this.wake?.();
        });
        this.deliveries.add(delivery);
      }
      await this.sleep(signal);
    }
    await Promise.all(this.deliveries);
  }

  /** One try of the first notification of a slot. */
  private async deliver(slot: Slot, signal: AbortSignal): Promise<void> {
    const { clock, isLeader, onResult } = this.options;
    const [notification] = slot.items;
    if (!notification || !isLeader()) return;
    let service: ServiceName | undefined;
    try {
      const channel = await this.channelOf(slot, signal);
      ({ service } = channel);
      const isWanted = channel.events.has(notification.event);
      if (isWanted && (slot.isSent || !(await this.isTold(slot, notification, signal))))
        await this.tell(slot, notification, channel, signal);
      this.slots.shift(slot);
    } catch (error) {
      if (isAborted(signal)) return;
      this.fail(slot, notification, error);
      onResult?.({ ...(service && { service }), result: 'failed' });
      if (clock.now() - notification.atMs <= NOTIFIED_WITHIN_MS) return;
      onResult?.({ ...(service && { service }), result: 'dropped' });
      this.slots.shift(slot);
    }
  }

  private async tell(
    slot: Slot,
    notification: Notification,
    channel: Channel,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, mail, onResult, sender } = this.options;
    if (!slot.isSent) {
      await sendNotification(notification, channel, { sender, mail, signal, nowMs: () => clock.now() });
      slot.isSent = true;
      onResult?.({ service: channel.service, result: 'sent' });
    }
    await recordTold(notification, [receiverOf(slot.channel)], client, signal);
  }

  /** Another leader may have sent it, which the caches do not show yet. */
  private async isTold({ channel }: Slot, notification: Notification, signal: AbortSignal): Promise<boolean> {
    const { key, replicaSet, revision } = notification;
    try {
      const live = await this.options.client.get<ReplicaSet>(ReplicaSet, replicaSet.metadata, { signal });
      return isTold(readTold(live.metadata.annotations, revision), receiverOf(channel), key);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  private async channelOf({ channel: name, namespace }: Slot, signal: AbortSignal): Promise<Channel> {
    const { client, hosts } = this.options;
    try {
      return readChannel(await client.get<Secret>(Secret, { namespace, name }, { signal }), hosts);
    } catch (error) {
      if (isNotFound(error)) throw new ChannelError(`there is no Secret ${name}`, { cause: error });
      if (isForbidden(error)) throw new ChannelError(`Secret ${name} may not be read`, { cause: error });
      throw error;
    }
  }

  private fail(slot: Slot, { about, event, id, namespace }: Notification, error: unknown): void {
    const { clock, logger, record } = this.options;
    slot.tries += 1;
    slot.dueMs = clock.monotonicNow() + Math.min(FIRST_RETRY_MS * 2 ** (slot.tries - 1), LONGEST_RETRY_MS);
    const { channel } = slot;
    // An error of the API has no part of the Secret in it; one of a channel is written for users.
    const why = errorMessage(error);
    logger.warn('a channel has not been notified of a rollout; trying again', {
      ...{ id, namespace, channel, error: why },
    });
    if (slot.tries > 1) return;
    const message = `Channel ${channel} has not been notified (${event}), which is retried: ${why}`;
    record(about, { type: 'Warning', reason: 'NotificationFailed', message });
  }

  private async sleep(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const nextMs = this.slots.untilNext(clock.monotonicNow()) ?? LOOK_AT_LEADERSHIP_MS;
    const slept = new LinkedAbort(signal);
    this.wake = () => slept.abort(new Error('something has changed'));
    // A slot that is due and waits for a place is taken when another one is released.
    const forMs = nextMs === 0 ? LOOK_AT_LEADERSHIP_MS : Math.min(LOOK_AT_LEADERSHIP_MS, nextMs);
    await clock.sleep(forMs, slept.signal).catch(() => undefined);
    slept.close();
    this.wake = undefined;
  }
}

/** The name in the record, beside those of sinks of CloudEvents. */
function receiverOf(channel: string): string {
  return `notify/${channel}`;
}
