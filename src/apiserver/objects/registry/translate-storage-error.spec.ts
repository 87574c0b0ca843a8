import { describe, expect, it } from 'vitest';
import { StorageRefusesError, StorageUnavailableError } from '../../storage/index.js';
import type { StatusError } from '../../schema/errors/index.js';
import { translateStoreFailure } from './translate-storage-error.js';

describe('a store that takes no writes', () => {
  it.each([
    ['Redis refuses: MISCONF Errors writing to the AOF file: No space left on device', 'its disk is full'],
    ['Redis refuses: MISCONF Redis is configured to save RDB snapshots', 'it cannot write to its disk'],
    ['Redis refuses: OOM command not allowed', 'its memory is full'],
  ])('is told of with the reason: %s', (message, reason) => {
    const failure = translateStoreFailure(new StorageRefusesError(message)) as StatusError;
    expect(failure.status).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    expect(failure.message).toContain(reason);
    expect(failure.message).toContain('nothing has been changed');
  });

  it.each([
    new StorageUnavailableError('Redis does not answer: Command timed out'),
    new StorageRefusesError('Redis refuses: READONLY'),
  ])('is not said to have changed nothing where that is not known: $message', (error) => {
    expect((translateStoreFailure(error) as StatusError).message).toContain('may or may not');
  });
});
