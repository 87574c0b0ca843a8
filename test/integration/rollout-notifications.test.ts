import type { Server as HttpServer } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UndiciSender, hostProblem, parseHostRules } from '../../src/controllers/deployment/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { readChannel } from '../../src/rollkeeper/insight/notifications/formats/channel.js';
import { smtpSender } from '../../src/rollkeeper/insight/notifications/mail-sender.js';
import {
  aChannelSecret,
  aNotification,
} from '../../src/rollkeeper/insight/notifications/formats/notification.fixture.js';
import { sendNotification } from '../../src/rollkeeper/insight/notifications/send.js';

const clock = new SystemClock();
const HOSTS = parseHostRules('127.0.0.1, mail.example', 'notification-hosts');

/** A mail server without TLS: it takes every mail, and keeps every line. */
function mailServer(lines: string[]): Server {
  return createServer((socket) => {
    let isData = false;
    const say = (text: string) => socket.write(`${text}\r\n`);
    say('220 mail.test ESMTP');
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        lines.push(line);
        if (isData) {
          if (line !== '.') continue;
          isData = false;
          say('250 taken');
        } else if (/^EHLO/i.test(line)) say('250-mail.test\r\n250 AUTH PLAIN LOGIN');
        else if (/^DATA/i.test(line)) {
          isData = true;
          say('354 go on');
        } else if (/^STARTTLS/i.test(line)) say('502 no such command');
        else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n');
        else say('250 ok');
      }
    });
  });
}

const listen = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

describe('a notification over the network', () => {
  const { signal } = new AbortController();
  let http: HttpServer;
  let mail: Server;
  let mailPort: number;
  let url: string;
  let got: { path: string | undefined; type: string | undefined; id: unknown; body: string }[];
  let lines: string[];
  let sender: UndiciSender;
  let isHung: boolean;

  beforeEach(async () => {
    [got, lines, isHung] = [[], [], false];
    http = createHttpServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { headers } = request;
        got.push({ path: request.url, type: headers['content-type'], id: headers['webhook-id'], body });
        if (!isHung) response.writeHead(request.url === '/gone' ? 404 : 202).end();
      });
    });
    mail = mailServer(lines);
    url = `http://127.0.0.1:${await listen(http)}`;
    mailPort = await listen(mail);
    sender = new UndiciSender(clock, (each) => hostProblem(each, HOSTS, '--notification-hosts'));
  });

  afterEach(async () => {
    await sender.close();
    http.closeAllConnections();
    http.close();
    mail.close();
  });

  const send = (data: Record<string, string>, by: AbortSignal = signal) =>
    sendNotification(aNotification(), readChannel(aChannelSecret(data, '127.0.0.1, mail.example'), HOSTS), {
      ...{ sender, mail: smtpSender(clock), signal: by },
      nowMs: () => clock.now(),
    });

  it('is one POST of JSON for each service', async () => {
    for (const service of ['slack', 'teams', 'discord', 'google-chat', 'pagerduty', 'webhook'])
      await send({ service, url: `${url}/${service}`, 'routing-key': 'key' });
    expect(got.map(({ path }) => path)).toEqual([
      ...['/slack', '/teams', '/discord', '/google-chat', '/pagerduty', '/webhook'],
    ]);
    for (const { body, type } of got) {
      expect(type).toMatch(/^application\/json/);
      expect(JSON.parse(body)).toBeTypeOf('object');
    }
    expect(got.at(-1)?.id).toBe('uid.7.failed.1');
  });

  it('is a mail for all receivers', async () => {
    const data = { url: `smtp://127.0.0.1:${mailPort}`, from: 'rk@x.test', to: 'a@x.test, b@x.test' };
    await send({ service: 'email', ...data });
    expect(lines).toContain('RCPT TO:<a@x.test>');
    expect(lines).toContain('RCPT TO:<b@x.test>');
    expect(lines).toContain('Subject: shop/web failed at revision 7');
    expect(lines).toContain('Auto-Submitted: auto-generated');
    expect(lines).toContain('Cause: ImagePullBackOff');
  });

  it('gives no password to a mail server without TLS', async () => {
    const data = { url: `smtp://me:s3cret@127.0.0.1:${mailPort}`, from: 'rk@x.test', to: 'a@x.test' };
    const error: unknown = await send({ service: 'email', ...data }).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/the mail server did not take it \(E/);
    expect(String(error)).not.toContain('s3cret');
    expect(lines.join('\n')).not.toMatch(/AUTH|s3cret/);
  });

  it('reports the status of a service that refuses it, and nothing of the address', async () => {
    await expect(send({ service: 'slack', url: `${url}/gone` })).rejects.toThrow('the service answered 404');
  });

  it('ends with the process, though a service has not answered', async () => {
    isHung = true;
    const stopper = new AbortController();
    const sent = send({ service: 'slack', url }, stopper.signal);
    stopper.abort(new Error('the process stops'));
    await expect(sent).rejects.toThrow('the process stops');
  });
});
