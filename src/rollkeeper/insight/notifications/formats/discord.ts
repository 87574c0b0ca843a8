import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { shortenedTo } from '@rollkeeper/controllers/shared';
import type { Notification, NotifiedEvent } from './notification.js';
import { factsOf, linksOf } from './notification.js';

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits, characters. */
const LONGEST_TITLE = 256;
const LONGEST_DESCRIPTION = 4096;
const LONGEST_FIELD = 1024;

const COLORS: Readonly<Record<NotifiedEvent, number>> = {
  started: 0x5b_8d_ef,
  step: 0x5b_8d_ef,
  'waiting-for-approval': 0x9b_59_b6,
  failed: 0xd6_45_41,
  'rolled-back': 0xe6_7e_22,
  complete: 0x2e_a0_5a,
};

/** The body of a webhook (https://discord.com/developers/docs/resources/webhook#execute-webhook). It mentions no user. */
export function discordBody(notification: Notification): object {
  const { atMs, event, link, text, title } = notification;
  const links = linksOf(notification).map(({ text: words, url }) => `[${words}](${url})`);
  const described = [escapeMarkdown(text), ...(links.length > 0 ? [links.join(' · ')] : [])].join('\n\n');
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: shortenedTo(LONGEST_TITLE, escapeMarkdown(title)),
        ...(link !== undefined && { url: link }),
        // The links are kept: the text is far below the limit.
        description: described.slice(0, LONGEST_DESCRIPTION),
        color: COLORS[event],
        fields: factsOf(notification).map(({ name, value }) => ({
          ...{ name, inline: true },
          value: shortenedTo(LONGEST_FIELD, escapeMarkdown(value)) || '–',
        })),
        timestamp: toRfc3339(atMs),
      },
    ],
  };
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\*_~`|>[\]()<#]/g, String.raw`\$&`);
}
