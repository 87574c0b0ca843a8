import { matchesGlob } from '../data/glob.js';
import type { CommandSpec, CommandTable } from '../commands/command.js';
import { NO_REPLY } from './server-context.js';
import type { ServerContext } from './server-context.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, PushReply } from '../resp/reply.js';
import type { Session } from './session.js';

type Kind = 'channels' | 'patterns' | 'shardChannels';

/** Subscriptions, messages, and questions about them. */
export const PUBSUB_COMMANDS: CommandTable<ServerContext> = {
  subscribe: subscribing('channels', 'subscribe'),
  psubscribe: subscribing('patterns', 'psubscribe'),
  ssubscribe: subscribing('shardChannels', 'ssubscribe'),
  unsubscribe: unsubscribing('channels', 'unsubscribe'),
  punsubscribe: unsubscribing('patterns', 'punsubscribe'),
  sunsubscribe: unsubscribing('shardChannels', 'sunsubscribe'),
  publish: {
    arity: 3,
    whileLoading: true,
    run: ({ server }, [channel = '', message = '']) => publish(server.sessions(), channel, message),
  },
  spublish: {
    arity: 3,
    whileLoading: true,
    run: ({ server }, [channel = '', message = '']) => {
      const listeners = server.sessions().filter(({ shardChannels }) => shardChannels.has(channel));
      for (const each of listeners) each.push(new PushReply(['smessage', channel, message]));
      return listeners.length;
    },
  },
  pubsub: { arity: -2, whileLoading: true, run: ask },
};

function countOf(session: Session, kind: Kind): number {
  if (kind === 'shardChannels') return session.shardChannels.size;
  return session.channels.size + session.patterns.size;
}

function subscribing(kind: Kind, name: string): CommandSpec<ServerContext> {
  return {
    arity: -2,
    noScript: true,
    whileLoading: true,
    run({ session }, channels) {
      for (const channel of channels) {
        session[kind].add(channel);
        session.push(new PushReply([name, channel, countOf(session, kind)]));
      }
      return NO_REPLY;
    },
  };
}

function unsubscribing(kind: Kind, name: string): CommandSpec<ServerContext> {
  return {
    arity: -1,
    noScript: true,
    whileLoading: true,
    run({ session }, channels) {
      const left = channels.length > 0 ? channels : [...session[kind]];
      if (left.length === 0) session.push(new PushReply([name, null, countOf(session, kind)]));
      for (const channel of left) {
        session[kind].delete(channel);
        session.push(new PushReply([name, channel, countOf(session, kind)]));
      }
      return NO_REPLY;
    },
  };
}

function publish(sessions: readonly Session[], channel: string, message: string): number {
  let count = 0;
  for (const session of sessions) {
    if (!session.channels.has(channel)) continue;
    session.push(new PushReply(['message', channel, message]));
    count += 1;
  }
  for (const session of sessions)
    for (const pattern of session.patterns) {
      if (!matchesGlob(pattern, channel)) continue;
      session.push(new PushReply(['pmessage', pattern, channel, message]));
      count += 1;
    }
  return count;
}

function ask({ server }: ServerContext, [name = '', ...args]: readonly string[]): Reply {
  const sessions = server.sessions();
  switch (name.toUpperCase()) {
    case 'CHANNELS':
      return channelsOf(sessions, 'channels', args[0]);
    case 'SHARDCHANNELS':
      return channelsOf(sessions, 'shardChannels', args[0]);
    case 'NUMSUB':
      return countEach(sessions, 'channels', args);
    case 'SHARDNUMSUB':
      return countEach(sessions, 'shardChannels', args);
    case 'NUMPAT':
      return new Set(sessions.flatMap(({ patterns }) => [...patterns])).size;
    default:
      throw new ErrorReply(`ERR unknown subcommand '${name}'. Try PUBSUB HELP.`);
  }
}

function channelsOf(sessions: readonly Session[], kind: Kind, pattern: string | undefined): Reply {
  const all = new Set(sessions.flatMap((session) => [...session[kind]]));
  return [...all].filter((channel) => pattern === undefined || matchesGlob(pattern, channel));
}

function countEach(sessions: readonly Session[], kind: Kind, channels: readonly string[]): Reply {
  return channels.flatMap((channel) => [
    channel,
    sessions.filter((session) => session[kind].has(channel)).length,
  ]);
}
