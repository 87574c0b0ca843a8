import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { SpanKind } from '@opentelemetry/api';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { KeepImportantSpans } from '../../src/opentelemetry/keep-important-spans.js';
import { RecentTraces } from '../../src/opentelemetry/recent-traces.js';
import { EventStreams } from '../../src/rollkeeper/admin/server/event-streams.js';
import { ExpiringCache } from '../../src/rollkeeper/admin/delegated-access/delegated-access.js';
import { RunningSyncs } from '../../src/rollkeeper/insight/explain/running-syncs.js';
import { OidcSignIn } from '../../src/rollkeeper/admin/oidc/index.js';
import { UserClients } from '../../src/rollkeeper/replica/user-clients.js';
import { SignInCodes } from '../../src/rollkeeper/admin/sign-in/index.js';
import type { PassingKeys } from './support/passing-keys.js';
import { describePassingKeys } from './support/passing-keys.js';

/** A response that is written to until its reader goes. */
class GoingReader extends EventEmitter {
  writableLength = 0;
  writableNeedDrain = false;
  writeHead(): void {}
  write(): void {}
  end(): void {}
  destroy(): void {
    this.emit('close');
  }
}

function spanOf(index: number, kind = SpanKind.INTERNAL): ReadableSpan {
  return {
    name: 'sync',
    kind,
    spanContext: () => ({ traceId: `trace-${index}`, spanId: `span-${index}`, traceFlags: 0 }),
    ...{ startTime: [0, 0], duration: [0, 1], status: { code: 0 }, attributes: {}, events: [], links: [] },
  } as unknown as ReadableSpan;
}

const SORTS: readonly PassingKeys[] = [
  {
    name: 'open pages of clients',
    make() {
      const streams = new EventStreams();
      const use = (index: number): void => {
        const response = new GoingReader();
        const stream = streams.open(`client-${index}`, response as unknown as Response);
        stream.send({ type: 'hello', identity: 'r0', nowMs: index, watchesDeployments: true });
        response.destroy();
      };
      return { kept: streams, use };
    },
  },
  {
    name: 'codes to sign in with, used or not',
    make(clock) {
      const codes = new SignInCodes(clock);
      const use = (index: number): void => {
        const { code } = codes.issue(`token-${index}`);
        if (index % 2 === 0) codes.redeem(code);
      };
      return { kept: codes, use, fill: 250 };
    },
  },
  {
    name: 'sign-ins by an identity provider',
    make(clock) {
      let at = 0;
      const issued = () => ({ idToken: 't', claims: { sub: `user-${at}` }, expiresMs: clock.now() + 60_000 });
      const signIn = new OidcSignIn({
        options: {
          ...{ clientId: 'c', scopes: ['openid'], rights: 'token', redirectUri: 'https://console/' },
          claims: { issuerUrl: 'https://issuer', usernameClaim: 'sub' },
        },
        provider: {
          begin: async () => ({
            secrets: { state: `state-${at}`, nonce: 'n', verifier: 'v' },
            address: 'https://issuer/',
          }),
          redeem: async () => issued(),
          refresh: async () => issued(),
          revoke: async () => undefined,
          close: async () => undefined,
        },
        clock,
        secret: 'secret',
      });
      const use = async (index: number): Promise<void> => {
        at = index;
        const { pending } = await signIn.begin('/');
        await signIn.finish(pending, 'code=1');
      };
      return { kept: signIn, use, fill: 1000 };
    },
  },
  {
    name: 'answers about the rights of users',
    make(clock) {
      const cache = new ExpiringCache<boolean>(clock, { ttlMs: 10_000, size: 50 });
      const use = async (index: number): Promise<void> => {
        await cache.get(`user-${index}`, async () => true);
        await cache.get(`refused-${index}`, () => Promise.reject(new Error('no'))).catch(() => undefined);
      };
      return { kept: cache, use, fill: 60 };
    },
  },
  {
    name: 'clients in the name of users',
    most: 1000,
    make(clock) {
      const connection = {
        ...{ serverUrl: 'https://127.0.0.1:1', source: 'test', tls: {} },
        credentials: { headers: async () => ({}), refused: () => undefined },
      } as never;
      const clients = new UserClients({ connection, clock, logger: silentLogger });
      const known = (): number => (clients as unknown as { known: ReadonlyMap<string, unknown> }).known.size;
      return { kept: known, use: (index) => void clients.of({ token: `token-${index}` }), fill: 60 };
    },
  },
  {
    name: 'traces and spans of syncs',
    make() {
      const recent = new RecentTraces('r0', 50);
      const next = new RecentTraces('r0', 50);
      const important = new KeepImportantSpans(next, { slowMs: 1000 });
      const use = (index: number): void => {
        recent.onEnd(spanOf(index));
        important.onEnd(spanOf(index));
      };
      return { kept: [recent, important], use, fill: 300 };
    },
  },
  {
    name: 'syncs that run',
    make(clock) {
      const running = new RunningSyncs(clock);
      const use = (index: number): void => {
        const sync = running.start('test', `ns/${index}`);
        sync.overdue();
        sync.end();
      };
      return { kept: running, use };
    },
  },
];

describePassingKeys(SORTS);
