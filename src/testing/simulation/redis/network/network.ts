import type { RandomSource } from '@rollkeeper/machinery/clock';

/** One message that travels between a client and the simulated server. */
export interface Transmission {
  /** Number of the connection, from 1 on in the order in which they were made. */
  readonly connection: number;
  readonly kind: 'connect' | 'accept' | 'request' | 'reply' | 'close';
  /** The end at which it arrives. */
  readonly to: 'server' | 'client';
  /** The bytes that were sent; a character for each byte. Empty unless bytes travel. */
  readonly bytes: string;
}

/**
 * Decides when what was sent arrives. Transmissions of one connection and direction arrive in the order in which they were sent,
 * whichever of them is let through: a network delays, it does not reorder a stream.
 */
export interface Network {
  /** Calls `arrive` once, not at once. Never: it is lost, and nothing else of that direction arrives. */
  deliver(transmission: Transmission, arrive: () => void): void;
}

/** Everything arrives as soon as the code that runs has ended. */
export const promptNetwork: Network = {
  deliver(_transmission, arrive) {
    queueMicrotask(arrive);
  },
};

/** The options of {@link delayingNetwork}. */
export interface DelayingNetworkOptions {
  /** Runs something after simulated milliseconds: a kernel's or a process's `after`, or a clock's timer. */
  readonly after: (delayMs: number, run: () => void) => unknown;
  readonly random: RandomSource;
  /** Each transmission takes up to so many milliseconds. */
  readonly longestMs: number;
}

/** A network whose delays are chances. */
export function delayingNetwork({ after, longestMs, random }: DelayingNetworkOptions): Network {
  return {
    deliver(_transmission, arrive) {
      after(random.next() * longestMs, arrive);
    },
  };
}
