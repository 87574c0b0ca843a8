/** The facts that the server reports about itself, and the faults for which it refuses commands. */
export interface ServerFacts {
  readonly version: string;
  /** A new one for each life of the server: 40 hexadecimal digits. */
  runId: string;
  /** A new one each time it becomes a master. */
  replicationId: string;
  readonly faults: ServerFaults;
}

/** Conditions under which a server refuses commands. All are false at first. */
export interface ServerFaults {
  /** There is no memory left: what would take more is refused. */
  full: boolean;
  /** It reads its data yet: everything but questions about itself is refused. */
  loading: boolean;
  /** It was demoted to a replica: writes are refused. */
  readOnly: boolean;
  /** It cannot write to its disk: writes are refused. */
  diskFailed: boolean;
}

/** `INFO`, with the lines that clients read. @param sections in lower case; none: all */
export function infoText(facts: ServerFacts, sections: readonly string[], clients: number): string {
  const { faults, replicationId, runId, version } = facts;
  const all: Readonly<Record<string, readonly string[]>> = {
    server: [
      '# Server',
      `redis_version:${version}`,
      'redis_mode:standalone',
      'os:simulated',
      'arch_bits:64',
      `run_id:${runId}`,
      'tcp_port:6379',
    ],
    clients: ['# Clients', `connected_clients:${clients}`],
    memory: ['# Memory', 'used_memory:1000000', 'maxmemory:0', 'maxmemory_policy:noeviction'],
    persistence: ['# Persistence', `loading:${faults.loading ? 1 : 0}`, 'async_loading:0'],
    replication: [
      '# Replication',
      `role:${faults.readOnly ? 'slave' : 'master'}`,
      'connected_slaves:0',
      `master_replid:${replicationId}`,
    ],
  };
  const isAll =
    sections.length === 0 || sections.some((name) => ['all', 'default', 'everything'].includes(name));
  const wanted = Object.entries(all).filter(([name]) => isAll || sections.includes(name));
  return wanted.map(([, lines]) => lines.map((line) => `${line}\r\n`).join('')).join('\r\n');
}
