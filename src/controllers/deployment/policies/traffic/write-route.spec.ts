import { describe, expect, it } from 'vitest';
import type { ApiClient, EventNote } from '../../../../runtime/index.js';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { refusal } from '../../../../testing/rollout-world.js';
import type { RouteWrite } from '../common/route-write.js';
import { steerRoute } from './write-route.js';

const WRITE: RouteWrite = {
  ...{ kind: 'httproute', namespace: 'shop', name: 'web', resourceVersion: '7', isFirst: true },
  changes: [{ op: 'remove', path: '/spec/rules/1' }],
};

/** The patches that were sent, with their options, and the Events. */
async function steer(answer?: Error) {
  const sent: unknown[] = [];
  const events: EventNote[] = [];
  const patch: ApiClient['patch'] = (_kind, ref, body, options) => {
    sent.push({ ref, body, fieldValidation: options?.fieldValidation });
    return answer ? Promise.reject(answer) : Promise.resolve({} as never);
  };
  const { signal } = new AbortController();
  const record = (_about: unknown, note: EventNote): void => void events.push(note);
  const written = steerRoute(aDeployment(), WRITE, { client: { patch }, events: { record }, signal });
  const failure = await written.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { sent, events, failure };
}

describe('a write of a route', () => {
  it('names single places, holds for the version that was seen, and lets the server refuse what it does not know', async () => {
    const { events, sent } = await steer();
    expect(sent).toEqual([
      {
        ref: { namespace: 'shop', name: 'web' },
        body: {
          type: 'json',
          body: [
            { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
            { op: 'remove', path: '/spec/rules/1' },
          ],
        },
        fieldValidation: 'Strict',
      },
    ]);
    expect(events).toEqual([]);
  });

  it.each([400, 403, 422])('is told by an Event where the server refuses it with %i', async (code) => {
    const { events, failure } = await steer(refusal(code));
    expect(failure).toMatchObject({ code });
    expect(events).toMatchObject([{ type: 'Warning', reason: 'RouteRefused' }]);
  });

  it('is tried again without a word where the route has changed meanwhile', async () => {
    const { events, failure } = await steer(refusal(409));
    expect(failure).toMatchObject({ code: 409 });
    expect(events).toEqual([]);
  });
});
