import type { HttpSender } from '@rollkeeper/controllers/deployment';
import { NoAnswerError, signatureOf } from '@rollkeeper/controllers/deployment';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Channel } from './formats/channel.js';
import { ChannelError } from './formats/channel.js';
import { discordBody } from './formats/discord.js';
import { googleChatBody } from './formats/google-chat.js';
import { mailText } from './formats/mail.js';
import { pagerDutyBody } from './formats/pagerduty.js';
import { slackBody } from './formats/slack.js';
import { teamsBody } from './formats/teams.js';
import { webhookBody } from './formats/webhook.js';
import type { MailSender } from './mail-sender.js';
import type { Notification } from './formats/notification.js';

/** A service that does not answer costs its own slot this long. */
const TIMEOUT_MS = 10_000;

export interface SendParts {
  readonly sender: HttpSender;
  readonly mail: MailSender;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

/**
 * Sends a notification to a channel, once.
 * @returns the status of the answer; undefined for a mail
 * @throws ChannelError if it was not taken. The message names neither the URL nor what a server answered
 */
export async function sendNotification(
  notification: Notification,
  channel: Channel,
  { mail, nowMs, sender, signal }: SendParts,
): Promise<number | undefined> {
  if (channel.service === 'email') {
    await mail(channel, mailText(notification), signal);
    return undefined;
  }
  const body = bodyOf(notification, channel);
  const headers = {
    'content-type': channel.service === 'webhook' ? channel.contentType : 'application/json; charset=utf-8',
    ...(channel.service === 'webhook' && headersOf(notification, channel, body, nowMs())),
  };
  try {
    const { status } = await sender.send(
      { method: 'POST', url: channel.url, headers, body, timeoutMs: TIMEOUT_MS },
      signal,
    );
    if (status < 200 || status > 299) throw new ChannelError(`the service answered ${status}`);
    return status;
  } catch (error) {
    if (error instanceof NoAnswerError) throw new ChannelError(error.message, { cause: error });
    throw error;
  }
}

/** The text of the request for each service over HTTP. */
export function bodyOf(notification: Notification, channel: Channel): string {
  if (channel.service === 'webhook') return webhookBody(notification, channel);
  const bodies = {
    slack: slackBody,
    teams: teamsBody,
    discord: discordBody,
    'google-chat': googleChatBody,
    pagerduty: (each: Notification) => pagerDutyBody(each, channel.routingKey ?? ''),
    email: mailText,
  };
  return stringifyJson(bodies[channel.service](notification));
}

/** The id is always sent, so that a receiver removes doubles; the signature where the channel has a key. */
function headersOf(
  { id }: Notification,
  { authorization, signingKey }: Channel,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(nowMs / 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    ...(authorization !== undefined && { authorization }),
    ...(signingKey && { 'webhook-signature': signatureOf(signingKey, { id, seconds, body }) }),
  };
}
