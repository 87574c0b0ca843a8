import { shortenedTo } from '@rollkeeper/controllers/shared';
import type { Notification } from './notification.js';
import { factsOf, linksOf } from './notification.js';

/** https://docs.slack.dev/reference/block-kit/blocks: the limits of the texts, characters. */
const LONGEST_HEADER = 150;
const LONGEST_SECTION = 3000;
const LONGEST_FIELD = 2000;

/**
 * The body of an incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). All texts are
 * plain, so that nothing that a user wrote mentions a channel or hides a link.
 */
export function slackBody(notification: Notification): object {
  const { text, title } = notification;
  const links = linksOf(notification);
  const plain = (most: number, words: string) => ({
    ...{ type: 'plain_text', emoji: false },
    text: shortenedTo(most, words),
  });
  return {
    // Shown where blocks are not, such as in the notice of a phone.
    text: escapeControls(title),
    blocks: [
      { type: 'header', text: plain(LONGEST_HEADER, title) },
      { type: 'section', text: plain(LONGEST_SECTION, text) },
      {
        type: 'context',
        elements: factsOf(notification).map(({ name, value }) => plain(LONGEST_FIELD, `${name}: ${value}`)),
      },
      ...(links.length === 0
        ? []
        : [
            {
              type: 'actions',
              elements: links.map(({ text: words, url }) => ({
                type: 'button',
                text: plain(LONGEST_HEADER, words),
                url,
              })),
            },
          ]),
    ],
  };
}

/** https://docs.slack.dev/messaging/formatting-message-text: the three characters that control the text. */
function escapeControls(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
