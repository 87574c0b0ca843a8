import type { SeenReplica } from '../../insight/diagnose/index.js';
import type { Peer } from './admin-ports.js';
import type { PeerAnswer } from './peer-client.js';

/** Asks a replica about itself. */
interface PeerAsker {
  ask<T>(peer: Peer, path: string): Promise<PeerAnswer<T>>;
}

/** The other replicas, and which of them do not answer. One whose process has ended is none. */
export async function seenReplicas(
  peers: readonly Peer[],
  identity: string,
  client: PeerAsker,
): Promise<readonly SeenReplica[]> {
  const others = peers.filter((peer) => peer.identity !== identity);
  const seen = await Promise.all(
    others.map(async (peer): Promise<readonly SeenReplica[]> => {
      const answer = await client.ask(peer, '/admin/local');
      if (hasEnded(answer, peer)) return [];
      const problem = silenceOf(answer, peer);
      const { adminUrl, identity: name } = peer;
      return [
        {
          identity: name,
          adminUrl,
          reachable: problem === undefined,
          ...(problem !== undefined && { problem }),
        },
      ];
    }),
  );
  return seen.flat();
}

/** Whether the replica has fallen silent, and its port is closed, so that its process has ended. */
export function hasEnded({ isRefused }: PeerAnswer<unknown>, { silentMs }: Peer): boolean {
  return silentMs !== undefined && isRefused === true;
}

/** Why a replica does not answer; undefined: it does. */
export function silenceOf({ problem }: PeerAnswer<unknown>, { silentMs }: Peer): string | undefined {
  if (problem === undefined || silentMs === undefined) return problem;
  const seconds = Math.round(silentMs / 1000);
  return `its process hangs, or its machine is unreachable: it has not announced itself for ${seconds} s (${problem})`;
}
