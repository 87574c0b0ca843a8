import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Notification } from './notification.js';
import { factsOf, linksOf } from './notification.js';

/** A message without its addresses. */
export interface MailText {
  readonly subject: string;
  /** Plain text: nothing that a user wrote is markup. */
  readonly text: string;
  /** The same on each try, so that a mail server may drop a double. */
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** https://www.rfc-editor.org/rfc/rfc3834#section-5.1: the word that keeps automatic answers away. */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' } as const;

/** The message of a notification. Control characters leave the subject, so that it is one header. */
export function mailText(notification: Notification): MailText {
  const { atMs, id, text, title } = notification;
  const facts = factsOf(notification).map(({ name, value }) => `${name}: ${value}`);
  const links = linksOf(notification).map(({ text: words, url }) => `${words}: ${url}`);
  const lines = [text, '', ...facts, `Time: ${toRfc3339(atMs)}`, ...(links.length > 0 ? ['', ...links] : [])];
  return {
    subject: title.replaceAll(/\p{Cc}/gu, ' '),
    text: `${lines.join('\n')}\n`,
    messageId: `<${id.replaceAll(/[^\w.-]/g, '-')}@rollkeeper>`,
    headers: AUTOMATIC,
  };
}
