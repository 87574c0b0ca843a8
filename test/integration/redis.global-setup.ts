import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startTestRedisServer } from '../../src/testing/redis-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A real Redis that all integration tests share; each test uses its own random key prefix. */
    redisUrl: string;
  }
}

/** Starts one Redis for all integration tests and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestRedisServer();
  project.provide('redisUrl', server.url);
  return () => server.stop();
}
