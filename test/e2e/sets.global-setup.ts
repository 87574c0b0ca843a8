import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { SetKeeper } from './support/set-keeper.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the keeper of the shared sets of processes. */
    setKeeperUrl: string;
  }
}

/** No set is started before a test file asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeper = new SetKeeper();
  project.provide('setKeeperUrl', await keeper.start());
  return () => keeper.stop();
}
