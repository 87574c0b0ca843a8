import type { Notification, NotifiedEvent } from './notification.js';
import { factsOf, linksOf } from './notification.js';

const COLORS: Partial<Record<NotifiedEvent, string>> = {
  complete: 'good',
  failed: 'attention',
  'rolled-back': 'warning',
  'waiting-for-approval': 'accent',
};

/**
 * The body for the trigger "When a Teams webhook request is received" of a workflow
 * (https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook): a message with one Adaptive Card. The connectors that
 * took message cards are retired. The texts are runs, which know no Markdown.
 */
export function teamsBody(notification: Notification): object {
  const { event, text, title } = notification;
  const run = (words: string, looks: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: words, ...looks }],
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    body: [
      run(title, { size: 'large', weight: 'bolder', color: COLORS[event] ?? 'default' }),
      run(text),
      ...factsOf(notification).map(({ name, value }) => run(`${name}: ${value}`, { isSubtle: true })),
    ],
    actions: linksOf(notification).map(({ text: words, url }) => ({
      ...{ type: 'Action.OpenUrl', title: words, url },
    })),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}
