import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { shortenedTo } from '@rollkeeper/controllers/shared';
import type { Notification, NotifiedEvent } from './notification.js';
import { factsOf, linksOf } from './notification.js';

/** https://developer.pagerduty.com/docs/send-alert-event: characters. */
const LONGEST_SUMMARY = 1024;

const SEVERITIES: Readonly<Record<NotifiedEvent, 'critical' | 'error' | 'warning' | 'info'>> = {
  started: 'info',
  step: 'info',
  'waiting-for-approval': 'info',
  failed: 'error',
  'rolled-back': 'warning',
  complete: 'info',
};

/**
 * An event of the Events API v2. All events of a Deployment are about one alert: a failure opens it, a rollback changes it, and
 * the next complete rollout resolves it. Doubles therefore change nothing.
 */
export function pagerDutyBody(notification: Notification, routingKey: string): object {
  const { atMs, event, namespace, name, text, title, uid } = notification;
  const about = { routing_key: routingKey, dedup_key: `rollkeeper/${uid}` };
  if (event === 'complete') return { ...about, event_action: 'resolve' };
  return {
    ...about,
    event_action: 'trigger',
    client: 'Rollkeeper',
    payload: {
      summary: shortenedTo(LONGEST_SUMMARY, `${title}: ${text}`),
      source: `${namespace}/${name}`,
      severity: SEVERITIES[event],
      timestamp: toRfc3339(atMs),
      component: name,
      group: namespace,
      class: event,
      custom_details: Object.fromEntries(
        factsOf(notification).map(({ name: fact, value }) => [fact.toLowerCase(), value]),
      ),
    },
    links: linksOf(notification).map(({ text: words, url }) => ({ href: url, text: words })),
  };
}
