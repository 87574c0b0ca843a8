import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { StartupError, errorMessage } from '../errors/index.js';
import type { AdminModuleOptions } from './admin.module.js';
import { AdminModule } from './admin.module.js';

export interface AdminServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the admin pages at once, before anything else of the process is up: probes must be answered meanwhile.
 * @param port 0 lets the system choose
 * @throws StartupError when the address cannot be bound
 */
export async function startAdminServer(
  options: AdminModuleOptions & { readonly host: string; readonly port: number },
): Promise<AdminServer> {
  const { host, port } = options;
  let app: INestApplication | undefined;
  try {
    app = await NestFactory.create(AdminModule.forRoot(options), { logger: false, abortOnError: false });
    await app.listen(port, host);
  } catch (error) {
    await app?.close();
    throw new StartupError(`cannot serve the admin pages on ${host}:${port}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const running = app;
  return { url: await running.getUrl(), close: () => running.close() };
}
