import type { RedisOptions } from 'ioredis';

type Connector = NonNullable<RedisOptions['Connector']>;

const connectors = new Map<string, Connector>();

/**
 * Lets every later connection to `host` be built by `connector` instead of by TCP: tests have a Redis in their own process.
 * @returns ends it
 */
export function reachHost(host: string, connector: Connector): () => void {
  connectors.set(host, connector);
  return () => connectors.delete(host);
}

/** The option for ioredis, if the host is reached in a way of its own. */
export function connectorOf(host: string): Pick<RedisOptions, 'Connector'> {
  const Connector = connectors.get(host);
  return Connector ? { Connector } : {};
}
