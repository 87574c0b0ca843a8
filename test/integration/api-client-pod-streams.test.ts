import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient, HttpApiClient } from '../../src/client/api-client/index.js';
import {
  ApiConnectionError,
  bearerToken,
  createHttpApiClient,
  forwardPort,
  isForbidden,
  isNotFound,
  withWriteGuard,
} from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const WEB = { namespace: 'default', name: 'web' };
const EXEC = `
'echo hello': hello
'cat /none': { stderr: "no such file\\n", exitCode: 1 }
`;

describe('a command in a pod of a test cluster', () => {
  let cluster: TestCluster;
  let client: ApiClient;
  beforeAll(async () => {
    cluster = await startTestCluster({
      ...{ nodes: 1, users: ['jane', 'nobody'] },
      manifests: <ManifestObject[]>[
        {
          ...{ apiVersion: 'v1', kind: 'Pod' },
          metadata: { name: 'web', annotations: { 'node.rollkeeper.dev/exec': EXEC } },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
        {
          ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'jane' } },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
        },
      ],
    });
    ({ client } = cluster);
    await cluster.waitFor('pod/web', 'condition=Ready');
  });
  afterAll(() => cluster.stop());

  it('ends with what it has written, and its exit code', async () => {
    expect(await client.exec(WEB, ['echo', 'hello'])).toEqual({ exitCode: 0, stdout: 'hello', stderr: '' });
    const failed = { exitCode: 1, stdout: '', stderr: 'no such file\n' };
    expect(await client.exec(WEB, ['cat', '/none'], { container: 'web', stdin: 'unread' })).toEqual(failed);
  });

  it('has one stream on a terminal, and hands its pieces over where they are asked for', async () => {
    const pieces: string[] = [];
    const onStdout = (chunk: Uint8Array): void => void pieces.push(Buffer.from(chunk).toString());
    const { stderr, stdout } = await client.exec(WEB, ['cat', '/none'], { tty: true, onStdout });
    expect([pieces.join(''), stdout, stderr]).toEqual(['no such file\n', '', '']);
  });

  it('may be run by the user of one namespace, and by nobody without rights', async () => {
    const [jane, nobody] = await Promise.all([cluster.user('jane'), cluster.user('nobody')]);
    expect((await jane.client.exec(WEB, ['echo', 'hello'])).stdout).toBe('hello');
    const refused = await nobody.client.exec(WEB, ['echo', 'hello']).catch((error: unknown) => error);
    expect(isForbidden(refused)).toBe(true);
    expect(String(refused)).toContain('pods "web" is forbidden');
  });

  it('says what is wrong: no pod, no such command, no such container, no command at all', async () => {
    const missing = await client.exec({ ...WEB, name: 'none' }, ['ls']).catch((error: unknown) => error);
    expect(isNotFound(missing)).toBe(true);
    await expect(client.exec(WEB, ['ls'])).rejects.toThrow('executable file not found in $PATH');
    await expect(client.exec(WEB, ['ls'], { container: 'db' })).rejects.toThrow(
      'container db is not valid for pod web',
    );
    await expect(client.exec(WEB, [])).rejects.toThrow('command: is empty');
    await expect(client.portForward(WEB, 0)).rejects.toThrow('port: must be from 1 to 65535');
  });

  it('is not run once the right to write is lost', async () => {
    const lost = new AbortController();
    const guarded = withWriteGuard(client, lost.signal);
    expect((await guarded.exec(WEB, ['echo', 'hello'])).stdout).toBe('hello');
    lost.abort(new Error('the lock was lost'));
    await expect(guarded.exec(WEB, ['echo', 'hello'])).rejects.toThrow('the lock was lost');
    await expect(guarded.portForward(WEB, 80)).rejects.toThrow('the lock was lost');
  });

  it('no port of a simulated pod can be reached, which is said with the server’s words', async () => {
    await expect(client.portForward(WEB, 80)).rejects.toMatchObject({ name: 'ApiStatusError', code: 500 });
  });
});

describe('a kubelet that speaks', () => {
  let server: Server;
  let client: HttpApiClient;
  /** Serves the next connection. */
  let serve: (socket: WebSocket, url: URL) => void;
  let protocols: readonly string[];

  beforeEach(async () => {
    const sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => protocols.find((name) => offered.has(name)) ?? false,
    });
    server = createServer((_request, answer) => answer.writeHead(400).end('upgrade request required'));
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (opened) =>
        serve(opened, new URL(request.url ?? '', 'http://x')),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connection = { serverUrl, tls: {}, credentials: bearerToken('t'), source: 'test' };
    client = createHttpApiClient({ connection, userAgent: 'test', clock: new SystemClock() });
    protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  const message = (channel: number, body: string | Buffer): Buffer =>
    Buffer.concat([Buffer.of(channel), Buffer.from(body)]);
  const SUCCESS = message(3, JSON.stringify({ metadata: {}, status: 'Success' }));

  it('is given the input of a command to its end', async () => {
    serve = (socket, url) => {
      const input: Buffer[] = [];
      socket.on('message', (data: Buffer) => {
        if (data[0] === 0) input.push(data.subarray(1));
        if (data[0] !== 255) return;
        expect([...data]).toEqual([255, 0]);
        socket.send(message(1, `${url.searchParams.getAll('command').join(' ')}: `));
        socket.send(message(1, Buffer.concat(input)));
        socket.send(SUCCESS);
      });
    };
    async function* stdin(): AsyncGenerator<string> {
      yield 'one ';
      yield 'two';
    }
    expect((await client.exec(WEB, ['sh', '-c', 'cat'], { stdin: stdin() })).stdout).toBe(
      'sh -c cat: one two',
    );
  });

  it('and breaks before the end is an error that names the pod', async () => {
    serve = (socket) => socket.close();
    await expect(client.exec(WEB, ['ls'])).rejects.toThrow(ApiConnectionError);
    await expect(client.exec(WEB, ['ls'])).rejects.toThrow(
      'exec in pods/web: the connection ended before the command did',
    );
  });

  it('another protocol is an error that names those that were offered', async () => {
    protocols = ['v4.channel.k8s.io'];
    serve = (socket) => socket.send(SUCCESS);
    await expect(client.exec(WEB, ['cat'], { stdin: '' })).rejects.toThrow(
      /did not take up a WebSocket \(v5\.channel\.k8s\.io\)/,
    );
    expect((await client.exec(WEB, ['ls'])).exitCode).toBe(0);
  });

  it('is left when the signal aborts a command that goes on', async () => {
    const stop = new AbortController();
    const left = new Promise((resolve) => {
      serve = (socket) => {
        socket.on('close', resolve);
        socket.send(message(1, 'working'));
      };
    });
    const onStdout = (): void => stop.abort(new Error('enough'));
    await expect(client.exec(WEB, ['sleep'], { onStdout, signal: stop.signal })).rejects.toThrow('enough');
    await left;
  });

  /** Says the port on both channels, as a kubelet does, and answers in capitals. */
  const answerInCapitals = (socket: WebSocket, url: URL): void => {
    const port = Buffer.alloc(2);
    port.writeUInt16LE(Number(url.searchParams.get('ports')));
    socket.send(message(0, port));
    socket.send(message(1, port));
    socket.on('message', (data: Buffer) => {
      const said = data.subarray(1).toString();
      if (said === 'bye') socket.close();
      else socket.send(message(0, said.toUpperCase()));
    });
  };

  it('carries a connection to a port', async () => {
    serve = answerInCapitals;
    const stream = await client.portForward(WEB, 8080);
    stream.write('hello');
    const [answer] = (await once(stream, 'data')) as [Buffer];
    expect(answer.toString()).toBe('HELLO');
    stream.write('bye');
    await once(stream, 'close');
  });

  it('says that nothing listens there, as an error of the stream', async () => {
    serve = (socket, url) => {
      answerInCapitals(socket, url);
      socket.send(message(1, 'connection refused\n'));
    };
    const stream = await client.portForward(WEB, 8080);
    const [error] = (await once(stream, 'error')) as [Error];
    expect(error.message).toBe('port 8080 of pods/web: connection refused');
  });

  it('is reached by a port of this machine, connection by connection', async () => {
    serve = answerInCapitals;
    const errors: Error[] = [];
    await using forwarded = await forwardPort(client, WEB, 8080, { onError: (error) => errors.push(error) });
    const ask = async (word: string): Promise<string> => {
      const socket = connect(forwarded.port, '127.0.0.1');
      socket.write(word);
      await once(socket, 'readable');
      socket.write('bye');
      return text(socket);
    };
    expect(await Promise.all([ask('one'), ask('two')])).toEqual(['ONE', 'TWO']);
    serve = (socket, url) => {
      answerInCapitals(socket, url);
      socket.send(message(1, 'connection refused'));
    };
    const refused = connect(forwarded.port, '127.0.0.1');
    await once(refused, 'close');
    expect(errors.map(({ message: problem }) => problem)).toEqual([
      'port 8080 of pods/web: connection refused',
    ]);
  });
});
