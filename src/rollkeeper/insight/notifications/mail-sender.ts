import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { guardedLookup } from '@rollkeeper/controllers/deployment';
import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorCode } from '@rollkeeper/machinery/errors';
import type { Channel } from './formats/channel.js';
import { ChannelError } from './formats/channel.js';
import type { MailText } from './formats/mail.js';

/** Sends a mail once. Rejects with {@link ChannelError} if no server takes it, with the signal's reason once it aborts. */
export type MailSender = (channel: Channel, mail: MailText, signal: AbortSignal) => Promise<void>;

/** A mail server may look at the sender for some seconds. */
const TIMEOUT_MS = 20_000;
const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;

/**
 * By SMTP. The library is loaded with the first mail. It opens no file and no URL, and uses a connection that goes to no name of
 * the machine itself. A password goes over TLS alone.
 */
export function smtpSender(clock: Pick<Clock, 'setTimeout'>): MailSender {
  return async (channel, mail, signal) => {
    const linked = new LinkedAbort(signal);
    const late = new ChannelError(`the mail server did not take it within ${TIMEOUT_MS / 1000} s`);
    const timer = clock.setTimeout(() => linked.abort(late), TIMEOUT_MS);
    let socket: Socket | undefined;
    try {
      const opened = await abortable(
        open(new URL(channel.url), (made) => (socket = made)),
        linked.signal,
      );
      await abortable(hand(channel, mail, opened), linked.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChannelError) throw error;
      throw new ChannelError(describe(error), { cause: error });
    } finally {
      timer.cancel();
      linked.close();
      socket?.destroy();
    }
  };
}

function open({ hostname, port, protocol }: URL, onMade: (socket: Socket) => void): Promise<Socket> {
  const host = hostname.replace(/^\[(.+)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const usual = protocol === 'smtps:' ? SUBMISSIONS_PORT : SUBMISSION_PORT;
    const socket = connect({ host, port: port === '' ? usual : Number(port), lookup: guardedLookup() });
    onMade(socket);
    socket.once('connect', () => resolve(socket));
    // The listener stays: an error of a connection that is no longer waited for ends no process.
    socket.on('error', reject);
  });
}

async function hand({ from, to, url }: Channel, mail: MailText, connection: Socket): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const { hostname, password, protocol, username } = new URL(url);
  const user = decodeURIComponent(username);
  const auth = user === '' ? {} : { auth: { user, pass: decodeURIComponent(password) }, requireTLS: true };
  const transport = createTransport({
    ...{ host: hostname, secure: protocol === 'smtps:', ...auth },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    getSocket: (_options: unknown, callback: (error: Error | null, socket?: object) => void) =>
      callback(null, { connection }),
  });
  try {
    await transport.sendMail({ from, to, ...mail });
  } finally {
    transport.close();
  }
}

/** By codes: a message of the server, or of the library, may have more in it than users may see. */
function describe(error: unknown): string {
  const code = errorCode(error);
  const status =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? ` ${error.responseCode}`
      : '';
  return `the mail server did not take it (${typeof code === 'string' ? code : 'no code'}${status})`;
}
