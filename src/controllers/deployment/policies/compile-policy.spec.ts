import { describe, expect, it } from 'vitest';
import type { RolloutPolicy } from './policies.js';
import { compilePolicy, renderProblems } from './compile-policy.js';
import { isOpen, nextOpening, parseWindows } from './start/windows.js';

const P = 'rollkeeper.dev/';

function named(settings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [P + name, value]));
}

function policyOf(settings: Record<string, string>, defaults: Record<string, string> = {}): RolloutPolicy {
  const compiled = compilePolicy(named(settings), named(defaults));
  if (compiled.kind !== 'policy') throw new Error(JSON.stringify(compiled));
  return compiled.policy;
}

describe('the policy of a Deployment', () => {
  it('is none without annotations, or with those of others', () => {
    expect(compilePolicy(undefined, undefined)).toEqual({ kind: 'none' });
    const others = { 'kubernetes.io/change-cause': 'x', 'rollkeeper.dev/traceparent': '00-1' };
    expect(compilePolicy(others, { 'example.com/rollkeeper.dev': 'x' })).toEqual({ kind: 'none' });
  });

  it('is none with what an operator of the kit leaves on a Deployment that it owns', () => {
    expect(compilePolicy(named({ applied: 'websites 0a1b', paused: 'true' }), undefined)).toEqual({
      kind: 'none',
    });
  });

  it('reads every annotation', () => {
    expect(
      policyOf({
        'on-failure': 'rollback',
        'fail-after': '1m30s',
        'max-failed-pods': '10%',
        'failure-causes': 'image-pull, unschedulable',
        'bake-time': '1h',
        'max-restarts': '5',
        steps: '1; wait 5m; 20%; approve;',
        window: 'Mon-Fri 09:00-16:00; Sat 10:00-12:00 Europe/Berlin',
        freeze: 'inventory',
      }),
    ).toMatchObject({
      onFailure: 'rollback',
      failAfterMs: 90_000,
      maxFailedPods: { percent: 10 },
      failureCauses: new Set(['image-pull', 'unschedulable']),
      bakeMs: 3_600_000,
      maxRestarts: 5,
      steps: [
        { kind: 'size', size: { pods: 1 } },
        { kind: 'wait', ms: 300_000 },
        { kind: 'size', size: { percent: 20 } },
        { kind: 'approve' },
      ],
      windows: [
        { from: 540, to: 960, timeZone: 'UTC' },
        { from: 600, to: 720, timeZone: 'Europe/Berlin' },
      ],
      freeze: 'inventory',
    });
  });

  it('takes from the Namespace what the Deployment does not say, and nothing that it turns off', () => {
    expect(policyOf({ 'on-failure': 'hold' }, { 'on-failure': 'rollback', 'bake-time': '5m' })).toMatchObject(
      {
        onFailure: 'hold',
        bakeMs: 300_000,
      },
    );
    expect(compilePolicy(named({ freeze: '' }), named({ freeze: 'all of it' }))).toEqual({ kind: 'none' });
  });

  it.each([
    ['on-failure', 'Rollback', 'none, hold, rollback'],
    ['fail-after', '5', 'no duration|duration'],
    ['fail-after', '0s', 'duration'],
    ['fail-after', '400d', 'duration'],
    ['max-failed-pods', '101%', 'percentage'],
    ['max-failed-pods', '-1', 'number of pods'],
    ['failure-causes', 'image', 'image-pull'],
    ['bake-time', '1w', 'duration'],
    ['max-restarts', '1.5', 'number of restarts'],
    ['steps', '20%%', 'step 1'],
    ['steps', '1;; 2', 'step 2'],
    ['steps', 'wait', 'step 1'],
    ['steps', 'approve; approve', 'second approval'],
    ['steps', '1;'.repeat(60), '60 steps'],
    ['window', '9-16', 'of the form'],
    ['window', 'Mon-Fry 09:00-16:00', 'a day'],
    ['window', '25:00-26:00', 'time'],
    ['window', '09:00-09:00', 'time'],
    ['window', '09:00-16:00 Europe/Atlantis', 'time zone'],
  ])('is refused whole for %s "%s", which is named', (name, value, why) => {
    const compiled = compilePolicy(named({ 'on-failure': 'rollback', [name]: value }), undefined);
    expect(compiled.kind).toBe('invalid');
    const text = compiled.kind === 'invalid' ? renderProblems(compiled.problems) : '';
    expect(text.startsWith(`${P}${name}: "`)).toBe(true);
    expect(text).toMatch(new RegExp(why));
  });

  it('names each of several problems, a name that is not known, and where a default is wrong', () => {
    const compiled = compilePolicy(named({ 'on-failur': 'rollback', steps: 'x' }), named({ window: 'x' }));
    expect(compiled.kind === 'invalid' && compiled.problems.map(({ annotation }) => annotation)).toEqual([
      'rollkeeper.dev/on-failur',
      'rollkeeper.dev/steps',
      'rollkeeper.dev/window of the Namespace',
    ]);
  });

  it.each([
    ['bake-tme', 'bake-time'],
    ['on-failur', 'on-failure'],
    ['freze', 'freeze'],
    ['Freeze', 'freeze'],
    ['stpes', 'steps'],
    ['failure-cause', 'failure-causes'],
    ['max-failed-pod', 'max-failed-pods'],
    ['x', undefined],
    ['something-else', undefined],
    ['a'.repeat(63), undefined],
  ])('names %s, and the name that was meant: %s', (typo, meant) => {
    const compiled = compilePolicy(named({ [typo]: '5m' }), undefined);
    const text = compiled.kind === 'invalid' ? renderProblems(compiled.problems) : '';
    const hint = meant === undefined ? '' : `; did you mean ${P}${meant}?`;
    expect(text).toBe(`${P}${typo}: "5m" is under a name that is not known${hint}`);
  });

  it('is unclear by a mistyped default of the Namespace as well, and not by its other names', () => {
    const compiled = compilePolicy(undefined, named({ freze: 'now', team: 'a' }));
    expect(compiled.kind === 'invalid' && compiled.policy.unclear).toBe(
      `${P}freze of the Namespace: "now" is under a name that is not known; did you mean ${P}freeze?`,
    );
    expect(compilePolicy(undefined, named({ team: 'a' })).kind).toBe('none');
  });

  it('names the first of many problems, in a message of bounded length', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`freeze${i}`, 'x'.repeat(500)]));
    const compiled = compilePolicy(named(many), undefined);
    const text = compiled.kind === 'invalid' ? (compiled.policy.unclear ?? '') : '';
    expect(text).toMatch(/; and 4990 more$/);
    expect(text.length).toBeLessThan(2500);
  });

  it('keeps what can be understood beside what cannot', () => {
    const compiled = compilePolicy(
      named({ 'on-failure': 'rollback', freeze: 'x', 'fail-after': '5' }),
      undefined,
    );
    expect(compiled.kind === 'invalid' && compiled.policy).toMatchObject({
      ...{ onFailure: 'rollback', freeze: 'x' },
    });
    expect(compiled.kind === 'invalid' && compiled.policy.failAfterMs).toBeUndefined();
  });

  it('has no steps for a Recreate, which has no sizes between none and all', () => {
    const shape = { isRollingUpdate: false };
    expect(compilePolicy(named({ steps: '1; approve' }), undefined, shape).kind).toBe('invalid');
    expect(compilePolicy(named({ 'on-failure': 'rollback' }), undefined, shape).kind).toBe('policy');
  });
});

describe('a window', () => {
  const at = (text: string): number => Date.parse(text);
  const opens = (window: string, now: string): string | undefined => {
    const parsed = parseWindows(window);
    if ('problem' in parsed) throw new Error(parsed.problem);
    if (isOpen(parsed.windows, at(now))) return 'open';
    const next = nextOpening(parsed.windows, at(now));
    return next === undefined ? undefined : new Date(next).toISOString();
  };

  it.each([
    // A Thursday.
    ['Mon-Thu 09:00-16:00 Europe/Berlin', '2026-01-01T08:00:00Z', 'open'],
    ['Mon-Thu 09:00-16:00 Europe/Berlin', '2026-01-01T07:59:30Z', '2026-01-01T08:00:00.000Z'],
    ['Mon-Thu 09:00-16:00 Europe/Berlin', '2026-01-01T15:00:00Z', '2026-01-05T08:00:00.000Z'],
    ['Mon-Thu 09:00-16:00', '2026-01-01T15:59:59Z', 'open'],
    ['22:00-04:00', '2026-01-01T03:59:00Z', 'open'],
    ['22:00-04:00', '2026-01-01T04:00:00Z', '2026-01-01T22:00:00.000Z'],
    ['Fri 22:00-04:00', '2026-01-01T23:00:00Z', '2026-01-02T22:00:00.000Z'],
    ['Fri 22:00-04:00', '2026-01-03T03:00:00Z', 'open'],
    ['Sat-Sun 00:00-24:00', '2026-01-04T23:59:00Z', 'open'],
    ['Sat,Mon 10:00-11:00', '2026-01-03T12:00:00Z', '2026-01-05T10:00:00.000Z'],
    ['Fri-Mon 10:00-11:00', '2026-01-04T12:00:00Z', '2026-01-05T10:00:00.000Z'],
    ['Thu 10:00-11:00; Fri 06:00-07:00', '2026-01-01T12:00:00Z', '2026-01-02T06:00:00.000Z'],
    // The clocks of Berlin go forward at 02:00 on this day, and back at 03:00 on the other.
    ['Sun 09:00-10:00 Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T07:00:00.000Z'],
    ['Sun 09:00-10:00 Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T08:00:00.000Z'],
    ['Thu 10:00-11:00 Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T04:15:00.000Z'],
  ])('%s at %s: %s', (window, now, expected) => {
    expect(opens(window, now)).toBe(expected);
  });
});
