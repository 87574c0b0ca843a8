import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Channel } from './channel.js';
import { ChannelError } from './channel.js';
import type { Notification } from './notification.js';

/** The fields of a template, each a text. */
export function templateFields(notification: Notification): Readonly<Record<string, string>> {
  const { approveLink, atMs, by, cause, event, id, images, link, name, namespace, revision, text, title } =
    notification;
  return {
    ...{ id, event, namespace, name, revision, title, text },
    ...{ images: images.join(', '), time: toRfc3339(atMs) },
    ...{ by: by ?? '', cause: cause ?? '', link: link ?? '', 'approve-link': approveLink ?? '' },
  };
}

/** A template may name a long field again and again. Characters. */
const LONGEST_BODY = 256 * 1024;

/**
 * The template with its fields, each escaped for a JSON string if the body is JSON; without a template an object of all fields.
 * A field that does not exist is left as it is written.
 * @throws ChannelError if it would be longer than 256 KiB
 */
export function webhookBody(
  notification: Notification,
  { contentType, template }: Pick<Channel, 'contentType' | 'template'>,
): string {
  const fields = templateFields(notification);
  if (template === undefined) return stringifyJson(fields);
  const isJson = /^[^;]*json/i.test(contentType);
  let length = template.length;
  return template.replaceAll(/\{\{ ?([a-z-]+) ?\}\}/g, (whole, field: string) => {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (value === undefined) return whole;
    const filled = isJson ? stringifyJson(value).slice(1, -1) : value;
    length += filled.length;
    if (length > LONGEST_BODY)
      throw new ChannelError('its template, filled in, is longer than the 256 KiB that are sent');
    return filled;
  });
}
