import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UntrustedFileError, readOwnFile, replaceFile } from '@rollkeeper/machinery/files';
import { errorCode } from '@rollkeeper/machinery/errors';
import { hostname, networkInterfaces } from 'node:os';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

/** One running process of ours. */
interface RunningProcess {
  readonly pid: number;
  readonly url?: string;
}

/** The processes running from a data folder; `run.json` there. */
export interface RunState {
  readonly version: 1;
  readonly supervisorPid: number;
  readonly redis?: { readonly url: string; readonly pid?: number };
  readonly apiServer?: RunningProcess;
  readonly nodes?: { readonly pid: number };
  /** Absent where it runs in the process of the nodes. */
  readonly scheduler?: { readonly pid: number };
  readonly replicas: readonly {
    readonly identity: string;
    readonly pid: number;
    readonly adminUrl: string;
    /** SHA-256 fingerprints; absent: plain HTTP. */
    readonly certificates?: readonly string[];
  }[];
}

const FILE = 'run.json';

/**
 * The last written state, or undefined if nothing was started here (or we may not read the file). Without the parts whose
 * address is not of this machine: a folder that came from elsewhere may hold a file of its own, and tokens and passwords
 * are sent to the addresses in it.
 * @throws UntrustedFileError if another user may have written it: the admin token is sent to the addresses in it
 */
export async function readRunState(dataDir: string): Promise<RunState | undefined> {
  try {
    const state = JSON.parse((await readOwnFile(join(dataDir, FILE))) ?? 'null') as RunState | null;
    return state?.version === 1 ? ofThisMachine(state) : undefined;
  } catch (error) {
    if (error instanceof UntrustedFileError) throw error;
    return undefined;
  }
}

function ofThisMachine({ apiServer, redis, replicas, ...rest }: RunState): RunState {
  // A Redis without a process is that of others, and is only shown.
  const isOwnRedis = redis !== undefined && (redis.pid === undefined || isOfThisMachine(redis.url));
  const isOwnServer =
    apiServer !== undefined && (apiServer.url === undefined || isOfThisMachine(apiServer.url));
  return {
    ...rest,
    ...(isOwnRedis && { redis }),
    ...(isOwnServer && { apiServer }),
    replicas: replicas.filter(({ adminUrl }) => isOfThisMachine(adminUrl)),
  };
}

/** The state of what runs there now; undefined where nothing does. @throws UntrustedFileError */
export async function readLiveRunState(dataDir: string): Promise<RunState | undefined> {
  const state = await readRunState(dataDir);
  return state && isAlive(state.supervisorPid) ? state : undefined;
}

/**
 * The kubeconfig of the API server that runs there now; undefined where none does, and for a file that others may read: `up` writes
 * none such, but a folder that came from elsewhere may hold one, and a kubeconfig may name commands to run.
 * @throws UntrustedFileError
 */
export async function runningKubeconfig(dataDir: string): Promise<string | undefined> {
  if (!(await readLiveRunState(dataDir))?.apiServer) return undefined;
  const path = kubeconfigIn(dataDir);
  const facts = await stat(path).catch(() => undefined);
  // Windows has no such modes.
  const isPrivate = facts && (process.platform === 'win32' || (facts.mode & 0o077) === 0);
  return isPrivate ? path : undefined;
}

/** The file in which `up` writes the kubeconfig of its API server. */
export function kubeconfigIn(dataDir: string): string {
  return join(dataDir, 'kubeconfig');
}

/** Replaces the file atomically, so that a reader never sees half of it. */
export async function writeRunState(dataDir: string, state: RunState): Promise<void> {
  await replaceFile(join(dataDir, FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export async function removeRunState(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}

/** Whether a process with this id runs (it may belong to another user). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** The names of a machine. */
interface OwnNames {
  readonly hostname: string;
  /** The addresses of its interfaces, IPv4 and IPv6. */
  readonly addresses: readonly string[];
}

/** Whether a URL leads to this machine without asking a name service, which others may control. */
export function isOfThisMachine(url: string, own: OwnNames = ownNames()): boolean {
  const host = URL.parse(url)
    ?.hostname.replace(/^\[|\]$/g, '')
    .toLowerCase();
  if (host === undefined || host === '') return false;
  return (
    host === 'localhost' ||
    host === own.hostname.toLowerCase() ||
    isLoopbackAddress(host) ||
    own.addresses.includes(host)
  );
}

function ownNames(): OwnNames {
  const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return { hostname: hostname(), addresses: all.map(({ address }) => address.toLowerCase()) };
}
