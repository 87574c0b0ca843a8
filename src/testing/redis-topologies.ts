import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisOptions } from 'ioredis';
import { Redis } from 'ioredis';
import { makeTestCertificates } from './api-client-certificates.js';
import { freePort } from './free-port.js';
import { waitFor } from './wait-for.js';

const HOST = '127.0.0.1';

/** Real `redis-server` processes on free loopback ports, with a folder that is removed with them. */
export class RedisProcesses {
  readonly dir = mkdtempSync(join(tmpdir(), 'rollkeeper-redis-'));
  private readonly children: ChildProcess[] = [];

  /** Starts one and waits until it answers. */
  async start(port: number, args: readonly string[], link: RedisOptions = {}): Promise<ChildProcess> {
    const dir = join(this.dir, String(port));
    mkdirSync(dir, { recursive: true });
    const child = spawn('redis-server', [...args, '--bind', HOST, '--dir', dir], { stdio: 'ignore' });
    this.children.push(child);
    await waitFor(() => ask(port, link, (redis) => redis.ping()).catch(() => false), {
      what: `redis-server on ${port} to answer`,
      timeoutMs: 30_000,
    });
    return child;
  }

  file(name: string, text: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  async stop(): Promise<void> {
    await Promise.all(this.children.map(endOf));
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export interface RedisTopology {
  readonly url: string;
  stop(): Promise<void>;
}

/** A topology whose masters have replicas. */
export interface ReplicatedTopology extends RedisTopology {
  /** Kills a current master with SIGKILL; resolves once another has taken its place. */
  failOver(): Promise<void>;
  /** Restarts ended servers as replicas of their successors, and waits until they follow. */
  repair(): Promise<void>;
}

const KEEP_NOTHING = ['--save', '', '--appendonly', 'no'];

/** A server that only accepts TLS and has one ACL user. `plainPort` accepts no connections. */
export async function startTlsRedis(): Promise<
  RedisTopology & { readonly caFile: string; readonly port: number; readonly password: string }
> {
  const processes = new RedisProcesses();
  const { ca, server } = await makeTestCertificates();
  const caFile = processes.file('ca.pem', ca);
  const port = await freePort();
  const password = 'p@ss/w:rd%41';
  // The rights listed in docs/REDIS.md.
  const acl = processes.file(
    'users.acl',
    [
      'user default off',
      `user keeper on >${password} ~rollkeeper* ~{rollkeeper* ~test* ~{test* &* +@all -@dangerous +info +client|setname`,
      '',
    ].join('\n'),
  );
  const args = [
    ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--aclfile', acl],
    ...['--tls-cert-file', processes.file('server.pem', server.cert)],
    ...['--tls-key-file', processes.file('server.key', server.key), '--tls-ca-cert-file', caFile],
    ...KEEP_NOTHING,
  ];
  await processes.start(port, args, { tls: { ca }, username: 'keeper', password });
  const login = `keeper:${encodeURIComponent(password)}`;
  return {
    url: `rediss://${login}@${HOST}:${port}?ca=${encodeURIComponent(caFile)}`,
    caFile,
    port,
    password,
    stop: () => processes.stop(),
  };
}

/** A master, a replica, and three Sentinels that fail over after half a second. */
export async function startSentinelTrio(): Promise<ReplicatedTopology> {
  const processes = new RedisProcesses();
  const login = { username: 'default', password: 'of-the-data' };
  const children = new Map<number, ChildProcess>();
  const startData = async (port: number, master?: number): Promise<void> => {
    const args = [
      ...['--port', String(port), '--requirepass', login.password, '--masterauth', login.password],
      ...(master === undefined ? [] : ['--replicaof', `${HOST} ${master}`]),
      ...[...KEEP_NOTHING, '--repl-diskless-sync-delay', '0'],
    ];
    children.set(port, await processes.start(port, args, { password: login.password }));
    if (master !== undefined) await untilFollowing(port, { password: login.password });
  };
  const firstMaster = await freePort();
  await startData(firstMaster);
  await startData(await freePort(), firstMaster);
  const sentinels = [await freePort(), await freePort(), await freePort()];
  for (const port of sentinels) {
    const config = [
      `port ${port}`,
      'requirepass of-the-sentinels',
      'sentinel sentinel-pass of-the-sentinels',
      `sentinel monitor rk ${HOST} ${firstMaster} 2`,
      `sentinel auth-pass rk ${login.password}`,
      'sentinel down-after-milliseconds rk 500',
      'sentinel failover-timeout rk 3000',
    ];
    await processes.start(
      port,
      [processes.file(`sentinel-${port}.conf`, `${config.join('\n')}\n`), '--sentinel'],
      {
        password: 'of-the-sentinels',
      },
    );
  }
  const askSentinel = <T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> =>
    ask(port, { password: 'of-the-sentinels' }, use);
  // A failover needs a majority of Sentinels that know each other and the replica.
  await waitFor(
    async () => {
      const infos = await Promise.all(
        sentinels.map((port) => askSentinel(port, (redis) => redis.info('sentinel'))),
      );
      return infos.every((info) => info.includes('slaves=1,sentinels=3'));
    },
    { what: 'the Sentinels to find each other', timeoutMs: 45_000 },
  );
  const masterPort = async (): Promise<number> => {
    const answer = await askSentinel(sentinels[0] as number, (redis) =>
      redis.call('SENTINEL', 'get-master-addr-by-name', 'rk'),
    );
    return Number((answer as [string, string])[1]);
  };
  const hosts = sentinels.map((port) => `${HOST}:${port}`).join(',');
  return {
    url: `redis+sentinel://:${login.password}@${hosts}/rk?sentinel-password=of-the-sentinels`,
    async failOver() {
      const before = await masterPort();
      children.get(before)?.kill('SIGKILL');
      await waitFor(async () => (await masterPort()) !== before, {
        what: 'the Sentinels to name another master',
        timeoutMs: 60_000,
      });
    },
    async repair() {
      const master = await masterPort();
      for (const [port, child] of children) if (hasEnded(child)) await startData(port, master);
    },
    stop: () => processes.stop(),
  };
}

/**
 * Three masters that share the slots. With `tls`, they only accept TLS, also between nodes, and require a password;
 * with `replicated`, each has a replica, which a failover requires.
 */
export async function startRedisCluster(
  options: { tls?: boolean; replicated?: boolean } = {},
): Promise<ReplicatedTopology> {
  const processes = new RedisProcesses();
  const { link, query, serverArgs } = options.tls ? await clusterTls(processes) : PLAIN;
  const onNode = <T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> => ask(port, link, use);
  const nodes: { port: number; busPort: number; child?: ChildProcess }[] = [];
  const startNode = async (node: (typeof nodes)[0]): Promise<void> => {
    const { busPort, port } = node;
    const args = [
      ...[...serverArgs(port), '--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0', ...KEEP_NOTHING],
    ];
    node.child = await processes.start(port, args, link);
  };
  for (let index = 0; index < (options.replicated ? 6 : 3); index++) {
    const node = { port: await freePort(), busPort: await freePort() };
    nodes.push(node);
    await startNode(node);
    const [first] = nodes;
    if (first && index > 0)
      await onNode(node.port, (redis) => redis.call('CLUSTER', 'MEET', HOST, first.port, first.busPort));
  }
  const ports = nodes.map(({ port }) => port);
  const [masters, replicas] = [ports.slice(0, 3), ports.slice(3)];
  const share = Math.ceil(16_384 / masters.length);
  for (const [index, port] of masters.entries()) {
    const last = Math.min((index + 1) * share, 16_384) - 1;
    await onNode(port, async (redis) => {
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1).catch(() => undefined);
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last);
    });
  }
  const untilAgreed = (): Promise<unknown> =>
    waitFor(
      async () => {
        const alive = nodes.filter(({ child }) => child && !hasEnded(child));
        const infos = await Promise.all(
          alive.map(({ port }) => onNode(port, (redis) => redis.cluster('INFO')).catch(() => '')),
        );
        const known = `cluster_known_nodes:${nodes.length}`;
        if (!infos.every((info) => info.includes('cluster_state:ok') && info.includes(known))) return false;
        const tables = await Promise.all(
          alive.map(({ port }) => onNode(port, (redis) => redis.cluster('NODES')).catch(() => '')),
        );
        return hasOneView(tables.map(String));
      },
      { what: 'the Cluster to agree', timeoutMs: 45_000 },
    );
  await untilAgreed();
  const idOf = (port: number): Promise<unknown> => onNode(port, (redis) => redis.call('CLUSTER', 'MYID'));
  for (const [index, port] of replicas.entries()) {
    const master = await idOf(masters[index] as number);
    await waitFor(
      () =>
        onNode(port, (redis) => redis.call('CLUSTER', 'REPLICATE', String(master))).then(
          () => true,
          () => false,
        ),
      { what: 'a replica to know its master' },
    );
    await untilFollowing(port, link);
  }
  await untilAgreed();
  const isMaster = (port: number): Promise<boolean> =>
    onNode(port, (redis) => redis.info('replication')).then(
      (info) => info.includes('role:master'),
      () => false,
    );
  const mastersNow = async (): Promise<number[]> => {
    const are = await Promise.all(ports.map(isMaster));
    return ports.filter((_, index) => are[index]);
  };
  let failovers = 0;
  const hosts = ports.map((port) => `${HOST}:${port}`).join(',');
  const scheme = options.tls ? `rediss+cluster://:${link.password}@` : 'redis+cluster://';
  return {
    url: `${scheme}${hosts}${query}`,
    async failOver() {
      const before = await mastersNow();
      const port = before[failovers++ % before.length];
      nodes.find((node) => node.port === port)?.child?.kill('SIGKILL');
      await waitFor(async () => (await mastersNow()).some((master) => !before.includes(master)), {
        what: 'a replica to take its master’s place',
        timeoutMs: 60_000,
      });
      await untilAgreed();
    },
    async repair() {
      for (const node of nodes)
        if (node.child && hasEnded(node.child)) {
          await startNode(node);
          await untilFollowing(node.port, link);
        }
      await untilAgreed();
    },
    stop: () => processes.stop(),
  };
}

/**
 * Whether nodes agree on who owns which slots since which epoch, and no two owners have one epoch. A replica with an
 * older epoch of its master is never elected: the others consider its request outdated.
 */
export function hasOneView(tables: readonly string[]): boolean {
  const views = tables.map((table) => ownersIn(table));
  const epochs = (views[0] ?? []).map(({ epoch }) => epoch);
  const text = (view: readonly SlotOwner[]): string =>
    view.map((each) => Object.values(each).join(' ')).join('\n');
  return new Set(views.map(text)).size === 1 && epochs.length > 0 && new Set(epochs).size === epochs.length;
}

interface SlotOwner {
  readonly id: string;
  readonly epoch: string;
  readonly slots: string;
}

/**
 * Parses an answer to CLUSTER NODES: one line per node, with its flags third, its epoch seventh, and its slots at the
 * end.
 */
function ownersIn(table: string): SlotOwner[] {
  return table
    .split('\n')
    .map((line) => line.trim().split(' '))
    .filter(([, , flags = '', , , , , , slots]) => flags.includes('master') && slots !== undefined)
    .map(([id = '', , , , , , epoch = '', , ...slots]) => ({ id, epoch, slots: slots.join(' ') }))
    .sort((one, other) => one.id.localeCompare(other.id));
}

interface ClusterLink {
  readonly link: RedisOptions;
  readonly query: string;
  readonly serverArgs: (port: number) => readonly string[];
}

const PLAIN: ClusterLink = { link: {}, query: '', serverArgs: (port) => ['--port', String(port)] };

async function clusterTls(processes: RedisProcesses): Promise<ClusterLink> {
  const { ca, server } = await makeTestCertificates();
  const caFile = processes.file('ca.pem', ca);
  const files = [
    ...['--tls-cert-file', processes.file('server.pem', server.cert)],
    ...['--tls-key-file', processes.file('server.key', server.key), '--tls-ca-cert-file', caFile],
  ];
  const mode = [
    '--port',
    '0',
    '--tls-cluster',
    'yes',
    '--tls-replication',
    'yes',
    '--tls-auth-clients',
    'no',
  ];
  const password = 'of-the-cluster';
  return {
    link: { tls: { ca }, password },
    query: `?ca=${encodeURIComponent(caFile)}`,
    serverArgs: (port) => [...mode, '--tls-port', String(port), ...files, '--requirepass', password],
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function untilFollowing(port: number, link: RedisOptions): Promise<unknown> {
  return waitFor(
    () =>
      ask(port, link, (redis) => redis.info('replication')).then(
        (info) => info.includes('master_link_status:up'),
        () => false,
      ),
    { what: 'a replica to follow its master', timeoutMs: 45_000 },
  );
}

async function ask<T>(port: number, options: RedisOptions, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ host: HOST, port, ...options, lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}
