import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RollkeeperError, StartupError, errorMessage } from '../errors/index.js';

/** A Nest application whose HTTP side is the admin port. */
export interface AdminServer {
  readonly url: string;
  /** A provider of the application. */
  get<T>(token: symbol): T;
  close(): Promise<void>;
}

/**
 * Puts `module` together and serves its admin pages at once, before anything else of the process is up: probes must
 * be answered meanwhile.
 * @param address port 0 lets the system choose
 * @throws StartupError when the address cannot be bound, or what a provider threw
 */
export async function startAdminServer(
  module: DynamicModule,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<AdminServer> {
  const app = await NestFactory.create(module, { logger: false, abortOnError: false });
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw asStartupError(error, `cannot serve the admin pages on ${host}:${port}`);
  }
  return describe(app, await app.getUrl());
}

function describe(app: INestApplication, url: string): AdminServer {
  return {
    url,
    get: <T>(token: symbol): T => app.get<T>(token, { strict: false }),
    close: () => app.close(),
  };
}

function asStartupError(error: unknown, what: string): Error {
  if (error instanceof RollkeeperError) return error;
  return new StartupError(`${what}: ${errorMessage(error)}`, { cause: error });
}
