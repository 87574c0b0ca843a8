import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { createProgram } from '../program.js';
import { modelOf } from './command-model.js';
import type { ReadNames } from './complete.js';
import { complete } from './complete.js';
import { decideCompletion } from './decide-completion.js';
import { COMPLETION_SCRIPTS, SHELLS } from './shell-scripts.js';

const PROGRAM = modelOf(createProgram('main.js'));
/** As typed behind the program's name; the last word is being typed. */
const words = (line: string): string[] => line.split(' ');
const values = (line: string): string[] =>
  decideCompletion(PROGRAM, words(line)).candidates.map(({ value }) => value);
const objects = (kind: string, namespace = 'default', before = '') => ({
  of: 'objects',
  kind,
  namespace,
  before,
});
const namesFor = (line: string) => decideCompletion(PROGRAM, words(line)).names;

describe('the next words on the command line', () => {
  it('is a command, with its description, and none that is hidden', () => {
    expect(values('roll')).toEqual(['rollout']);
    expect(values('')).toContain('doctor');
    expect(values('')).not.toContain('__complete');
    expect(decideCompletion(PROGRAM, ['queu']).candidates[0]?.description).toBe('show the keys of a queue');
  });

  it.each([
    ['rollout hist', ['history']],
    ['queue un', ['unpark']],
    ['queue show re', ['replicaset']],
    ['completion z', ['zsh']],
    ['status -o y', ['yaml']],
    ['status --output=j', ['--output=json']],
    ['rollout wait web --api roll', ['rollkeeper.dev/v1']],
    ['controller --leader-elect-resource-lock l', ['leases']],
    ['controller --restart-on-config t', ['true']],
    ['explain po', ['pod/']],
    ['explain p', ['pod/', 'pdb/', 'pvc/']],
    ['scale r', ['replicaset/']],
    ['why p', ['pod/']],
    ['rollout wait web other', []],
    ['nope ', []],
  ])('is a word that fits: %s', (line, expected) => {
    expect(values(line)).toEqual(expected);
  });

  it('is an option of the command that stands before, wherever it stands', () => {
    expect(values('rollout wait web --until-a')).toEqual(['--until-approval']);
    expect(values('rollout --until-a')).toEqual(['--until-approval']);
    expect(values('status --until-a')).toEqual([]);
  });

  it.each([
    ['rollout wait -n ', { of: 'namespaces' }],
    ['explain --context ', { of: 'contexts' }],
    ['rollout wait -n shop ', objects('deployment', 'shop')],
    ['rollout wait --namespace=shop w', objects('deployment', 'shop')],
    ['rollout undo deployment w', objects('deployment')],
    ['rollout undo deploy/w', objects('deploy', 'default', 'deploy/')],
    ['rollout undo shop/w', objects('deployment', 'shop', 'shop/')],
    ['diff deployment/w', objects('deployment', 'default', 'deployment/')],
    ['explain pod web', objects('pod')],
    ['explain po/web', objects('po', 'default', 'po/')],
    ['explain node/', objects('node', 'default', 'node/')],
    ['explain statefulset.apps/', objects('statefulset.apps', 'default', 'statefulset.apps/')],
    ['scale replicaset/w', objects('replicaset', 'default', 'replicaset/')],
    ['why -n shop w', objects('pod', 'shop')],
  ])('is a name that the API knows: %s', (line, expected) => {
    expect(namesFor(line)).toEqual(expected);
  });

  it('is a file where one is read, and behind -- where another command begins', () => {
    expect(decideCompletion(PROGRAM, words('plan -f ')).files).toBe(true);
    expect(decideCompletion(PROGRAM, words('explain --kubeconfig ')).files).toBe(true);
    expect(decideCompletion(PROGRAM, words('test-cluster -- ')).files).toBe(true);
    expect(decideCompletion(PROGRAM, words('rollout ')).files).toBe(false);
  });

  it('asks with the kubeconfig and the context that were typed', () => {
    expect(decideCompletion(PROGRAM, words('rollout wait --context=east --kubeconfig /k w')).api).toEqual({
      context: 'east',
      kubeconfig: '/k',
    });
  });
});

describe('the answer to a shell', () => {
  const clock = new FakeClock();
  const answer = (line: string, readNames: ReadNames): Promise<string> =>
    complete(PROGRAM, words(line), { clock, loadReader: async () => readNames });

  it('has a candidate a line, and at last how to go on, as kubectl reads it', async () => {
    const names = async () => ['web', 'api', 'worker'];
    expect(await answer('rollout wait deployment/w', names)).toBe('deployment/web\ndeployment/worker\n:4');
    expect(await answer('status --namespace=', names)).toBe(':4');
    expect(await answer('rollout wait --namespace=w', names)).toBe('--namespace=web\n--namespace=worker\n:4');
    expect(await answer('explain po', names)).toBe('pod/\n:6');
    expect(await answer('plan -f ', names)).toBe(':0');
  });

  it('has no names where they cannot be read', async () => {
    expect(
      await answer('rollout wait deployment/', async () => {
        throw new Error('forbidden');
      }),
    ).toBe(':4');
  });

  it('does not wait for an API that does not answer', async () => {
    const slow = answer('rollout wait deployment/', () => new Promise(() => undefined));
    await clock.advance(2000);
    expect(await slow).toBe(':4');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the scripts for shells', () => {
  it.each(SHELLS)('ask, for %s, the program itself', (shell) => {
    expect(COMPLETION_SCRIPTS[shell]).toContain('rollkeeper __complete --');
  });
});
