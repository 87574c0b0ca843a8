import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosReplica } from '../set/replica.js';
import type { Direction, TcpLink } from '../../support/tcp-link.js';
import { anyReplica, theLeader } from './process-faults.js';
import type { Fault } from './fault.js';
import { between } from './fault.js';

type Link = (replica: ChaosReplica) => TcpLink;
export const redisLink: Link = (replica) => replica.redisLink;
export const apiLink: Link = (replica) => replica.apiLink;

function onLink(link: Link, longestMs: number, make: (proxy: TcpLink, strength: number) => void): Fault {
  return async (context) => {
    const replica = await anyReplica(context);
    if (!replica) return;
    const proxy = link(replica);
    context.began(replica.name);
    make(proxy, context.strength);
    await pause(between(200, longestMs, context.strength));
    proxy.heal({ breakHeld: true });
  };
}

/** Broken and refused; connections come back in another order than they were lost. */
export function cutLink(link: Link): Fault {
  return async (context) => {
    const replica = await anyReplica(context);
    if (!replica) return;
    const proxy = link(replica);
    context.began(replica.name);
    proxy.cut();
    await pause(between(0, 6000, context.strength));
    proxy.heal();
    proxy.shuffleReconnects(500);
    await pause(2000);
    proxy.heal();
  };
}

export const stallLink = (link: Link): Fault =>
  onLink(link, 10_000, (proxy) => proxy.hold('toServer', 'toClient'));

export const holdOneWay = (link: Link, direction: Direction): Fault =>
  onLink(link, 10_000, (proxy) => proxy.hold(direction));

/** Slow, but nothing is lost: also when it ends, the connections stay. */
export function slowLink(link: Link): Fault {
  return async (context) => {
    const replica = await anyReplica(context);
    if (!replica) return;
    const proxy = link(replica);
    context.began(replica.name);
    proxy.slowDown(between(20, 800, context.strength));
    await pause(between(1000, 6000, context.strength));
    proxy.heal();
  };
}

/** The connections alone: the process lives, and has new ones as soon as it wants them. */
export const leaderLosesRedis: Fault = async (context) => {
  const leader = await theLeader(context);
  if (!leader) return;
  context.began(leader.name);
  for (let count = between(1, 20, context.strength); count > 0; count--) {
    leader.redisLink.reset();
    await pause(between(20, 400, context.strength));
  }
};

/**
 * Everything that others can see of it is gone, and it does not know: it goes on, before its lease has ended by its own
 * clock or after, as if it still led.
 */
export const pausedLeaderLosesRedis: Fault = async (context) => {
  const leader = await theLeader(context);
  if (!leader) return;
  context.began(leader.name);
  leader.process.signal('SIGSTOP');
  leader.redisLink.reset();
  await pause(between(300, 3000, context.strength));
  leader.process.signal('SIGCONT');
  await pause(200);
};
