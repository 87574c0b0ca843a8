import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisOptions } from 'ioredis';
import { Redis } from 'ioredis';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import { freePort } from '@rollkeeper/machinery/listening';
import { waitFor } from '../../src/testing/wait-for.js';

const HOST = '127.0.0.1';

/** Real `redis-server` processes on free loopback ports, with a folder that is removed with them. */
class RedisProcesses {
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
  const trio = new SentinelTrio();
  await trio.start();
  return {
    url: trio.url,
    failOver: () => trio.failOver(),
    repair: () => trio.repair(),
    stop: () => trio.stop(),
  };
}

const SENTINEL_PASSWORD = 'of-the-sentinels';

class SentinelTrio {
  private readonly processes = new RedisProcesses();
  private readonly login = { username: 'default', password: 'of-the-data' };
  private readonly children = new Map<number, ChildProcess>();
  private sentinels: readonly number[] = [];

  async start(): Promise<void> {
    const firstMaster = await freePort();
    await this.startData(firstMaster);
    await this.startData(await freePort(), firstMaster);
    this.sentinels = [await freePort(), await freePort(), await freePort()];
    for (const port of this.sentinels) await this.startSentinel(port, firstMaster);
    // A failover needs a majority of Sentinels that know each other and the replica.
    await waitFor(
      async () => {
        const infos = await Promise.all(
          this.sentinels.map((port) => this.askSentinel(port, (redis) => redis.info('sentinel'))),
        );
        return infos.every((info) => info.includes('slaves=1,sentinels=3'));
      },
      { what: 'the Sentinels to find each other', timeoutMs: 45_000 },
    );
  }

  get url(): string {
    const hosts = this.sentinels.map((port) => `${HOST}:${port}`).join(',');
    return `redis+sentinel://:${this.login.password}@${hosts}/rk?sentinel-password=${SENTINEL_PASSWORD}`;
  }

  async failOver(): Promise<void> {
    const before = await this.masterPort();
    this.children.get(before)?.kill('SIGKILL');
    await waitFor(async () => (await this.masterPort()) !== before, {
      what: 'the Sentinels to name another master',
      timeoutMs: 60_000,
    });
  }

  async repair(): Promise<void> {
    const master = await this.masterPort();
    for (const [port, child] of this.children) if (hasEnded(child)) await this.startData(port, master);
  }

  stop(): Promise<void> {
    return this.processes.stop();
  }

  private async startData(port: number, master?: number): Promise<void> {
    const { password } = this.login;
    const args = [
      ...['--port', String(port), '--requirepass', password, '--masterauth', password],
      ...(master === undefined ? [] : ['--replicaof', `${HOST} ${master}`]),
      ...[...KEEP_NOTHING, '--repl-diskless-sync-delay', '0'],
    ];
    this.children.set(port, await this.processes.start(port, args, { password }));
    if (master !== undefined) await untilFollowing(port, { password });
  }

  private async startSentinel(port: number, master: number): Promise<void> {
    const config = [
      `port ${port}`,
      `requirepass ${SENTINEL_PASSWORD}`,
      `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
      `sentinel monitor rk ${HOST} ${master} 2`,
      `sentinel auth-pass rk ${this.login.password}`,
      'sentinel down-after-milliseconds rk 500',
      'sentinel failover-timeout rk 3000',
    ];
    const file = this.processes.file(`sentinel-${port}.conf`, `${config.join('\n')}\n`);
    await this.processes.start(port, [file, '--sentinel'], { password: SENTINEL_PASSWORD });
  }

  private askSentinel<T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> {
    return ask(port, { password: SENTINEL_PASSWORD }, use);
  }

  private async masterPort(): Promise<number> {
    const answer = await this.askSentinel(this.sentinels[0] as number, (redis) =>
      redis.call('SENTINEL', 'get-master-addr-by-name', 'rk'),
    );
    return Number((answer as [string, string])[1]);
  }
}

/**
 * Three masters that share the slots. With `tls`, they only accept TLS, also between nodes, and require a password;
 * with `replicated`, each has a replica, which a failover requires.
 */
export async function startRedisCluster(
  options: { tls?: boolean; replicated?: boolean } = {},
): Promise<ReplicatedTopology> {
  const processes = new RedisProcesses();
  const cluster = new ClusterNodes(processes, options.tls ? await clusterTls(processes) : PLAIN);
  await cluster.start(options.replicated ? 6 : 3);
  return {
    url: cluster.url,
    failOver: () => cluster.failOver(),
    repair: () => cluster.repair(),
    stop: () => processes.stop(),
  };
}

const MASTERS = 3;
const SLOTS = 16_384;

interface ClusterNode {
  readonly port: number;
  readonly busPort: number;
  child?: ChildProcess;
}

class ClusterNodes {
  private readonly nodes: ClusterNode[] = [];
  private failovers = 0;

  constructor(
    private readonly processes: RedisProcesses,
    private readonly how: ClusterLink,
  ) {}

  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const node = { port: await freePort(), busPort: await freePort() };
      this.nodes.push(node);
      await this.startNode(node);
      const [first] = this.nodes;
      if (first && index > 0)
        await this.on(node.port, (redis) => redis.call('CLUSTER', 'MEET', HOST, first.port, first.busPort));
    }
    await this.shareSlots(this.ports.slice(0, MASTERS));
    await this.untilAgreed();
    for (const [index, port] of this.ports.slice(MASTERS).entries())
      await this.follow(port, this.ports[index] as number);
    await this.untilAgreed();
  }

  get url(): string {
    const { link, query } = this.how;
    const hosts = this.ports.map((port) => `${HOST}:${port}`).join(',');
    const scheme = link.password === undefined ? 'redis+cluster://' : `rediss+cluster://:${link.password}@`;
    return `${scheme}${hosts}${query}`;
  }

  async failOver(): Promise<void> {
    const before = await this.mastersNow();
    const port = before[this.failovers++ % before.length];
    this.nodes.find((node) => node.port === port)?.child?.kill('SIGKILL');
    await waitFor(async () => (await this.mastersNow()).some((master) => !before.includes(master)), {
      what: 'a replica to take its master’s place',
      timeoutMs: 60_000,
    });
    await this.untilAgreed();
  }

  async repair(): Promise<void> {
    for (const node of this.nodes)
      if (node.child && hasEnded(node.child)) {
        await this.startNode(node);
        await untilFollowing(node.port, this.how.link);
      }
    await this.untilAgreed();
  }

  private get ports(): number[] {
    return this.nodes.map(({ port }) => port);
  }

  private on<T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> {
    return ask(port, this.how.link, use);
  }

  private async startNode(node: ClusterNode): Promise<void> {
    const { busPort, port } = node;
    const args = [
      ...[...this.how.serverArgs(port), '--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0', ...KEEP_NOTHING],
    ];
    node.child = await this.processes.start(port, args, this.how.link);
  }

  private async shareSlots(masters: readonly number[]): Promise<void> {
    const share = Math.ceil(SLOTS / masters.length);
    for (const [index, port] of masters.entries()) {
      const last = Math.min((index + 1) * share, SLOTS) - 1;
      await this.on(port, async (redis) => {
        await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1).catch(() => undefined);
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last);
      });
    }
  }

  private async follow(port: number, masterPort: number): Promise<void> {
    const master = await this.on(masterPort, (redis) => redis.call('CLUSTER', 'MYID'));
    await waitFor(
      () =>
        this.on(port, (redis) => redis.call('CLUSTER', 'REPLICATE', String(master))).then(
          () => true,
          () => false,
        ),
      { what: 'a replica to know its master' },
    );
    await untilFollowing(port, this.how.link);
  }

  private untilAgreed(): Promise<unknown> {
    const { nodes } = this;
    const known = `cluster_known_nodes:${nodes.length}`;
    return waitFor(
      async () => {
        const alive = nodes.filter(({ child }) => child && !hasEnded(child));
        const askAll = (section: 'INFO' | 'NODES'): Promise<unknown[]> =>
          Promise.all(
            alive.map(({ port }) =>
              this.on(port, (redis) => redis.cluster(section as 'INFO')).catch(() => ''),
            ),
          );
        const infos = (await askAll('INFO')).map(String);
        if (!infos.every((info) => info.includes('cluster_state:ok') && info.includes(known))) return false;
        return hasOneView((await askAll('NODES')).map(String));
      },
      { what: 'the Cluster to agree', timeoutMs: 45_000 },
    );
  }

  private async mastersNow(): Promise<number[]> {
    const isMaster = (port: number): Promise<boolean> =>
      this.on(port, (redis) => redis.info('replication')).then(
        (info) => info.includes('role:master'),
        () => false,
      );
    const are = await Promise.all(this.ports.map(isMaster));
    return this.ports.filter((_, index) => are[index]);
  }
}

/**
 * Whether nodes agree on the owner of each slot and on its epoch, and no two owners have one epoch. A replica with an
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
