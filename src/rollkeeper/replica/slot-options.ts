import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { CheckedReplicaOptions } from './replica-options.table.js';

type SlotOptions = Pick<
  CheckedReplicaOptions,
  'cloudevents-sink' | 'eviction-webhook' | 'max-rollouts' | 'namespaces' | 'notification-hosts' | 'slots'
> & {
  readonly 'reconcile-on': 'all' | 'leader';
  readonly 'redis-url': string | undefined;
};

/**
 * Refuses what needs to see all namespaces in one replica together with slots.
 * @throws InvalidOptionError naming the option
 */
export function assertFitSlots(options: SlotOptions): void {
  if (options.slots === 0) return;
  if (options['redis-url'] === undefined)
    throw new InvalidOptionError('slots', 'needs a Redis that all replicas share');
  const wanting = [
    ['reconcile-on', options['reconcile-on'] === 'leader'],
    ['namespaces', (options.namespaces ?? '') !== ''],
    ['max-rollouts', options['max-rollouts'] !== 'off'],
    ['eviction-webhook', options['eviction-webhook'] !== undefined],
    ['cloudevents-sink', (options['cloudevents-sink'] ?? '') !== ''],
    ['notification-hosts', options['notification-hosts'] !== ''],
  ] as const;
  for (const [name, isAsked] of wanting)
    if (isAsked)
      throw new InvalidOptionError(
        'slots',
        `cannot be together with ${name}, which needs one replica that sees everything`,
      );
}
