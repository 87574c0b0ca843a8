import { ApiServer, MemoryStorage, createKindRegistry, createSchemaRegistry } from '@rollkeeper/apiserver';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';

/** An embedded API server in memory, for one recording. */
export interface OwnServer {
  readonly url: string;
  /** Grants all rights. A client without it is anonymous. */
  readonly token: string;
  stop(): Promise<void>;
}

const TOKEN = 'administrator';

export async function startOwnServer(): Promise<OwnServer> {
  const clock = new SystemClock();
  const storage = new MemoryStorage({ clock });
  const server = new ApiServer({
    storage,
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    drainTimeoutMs: 1000,
    token: TOKEN,
  });
  const end = new AbortController();
  const run = Promise.all([storage.run(end.signal), server.run(end.signal)]);
  const { url } = await Promise.race([server.ready, run.then(() => server.ready)]);
  return {
    url,
    token: TOKEN,
    async stop() {
      end.abort();
      await run;
    },
  };
}
