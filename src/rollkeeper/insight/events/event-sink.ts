import { createHash } from 'node:crypto';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** A receiver of CloudEvents. */
export interface EventSink {
  readonly url: string;
  /** Identifies it in annotations, which every reader of a ReplicaSet sees. */
  readonly id: string;
}

const ID_CHARS = 8;

/** @throws InvalidOptionError naming the URL */
export function parseSinks(list: string, option: string): readonly EventSink[] {
  const urls = list.split(',').map((url) => url.trim());
  return [...new Set(urls)].filter((url) => url !== '').map((url) => parseSink(url, option));
}

function parseSink(url: string, option: string): EventSink {
  const { password, protocol, username } = URL.canParse(url)
    ? new URL(url)
    : { password: '', protocol: '', username: '' };
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new InvalidOptionError(option, `"${url}" is neither an http nor an https URL`);
  if (username !== '' || password !== '')
    throw new InvalidOptionError(option, 'has a URL with a user or a password: sign what is sent instead');
  return { url, id: createHash('sha256').update(url).digest('hex').slice(0, ID_CHARS) };
}
