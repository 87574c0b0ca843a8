import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import type { ExecOutcome } from './pod-exec.js';
import { admittedOptions, connectOptionsOf } from './connect-options.js';
import { decideExec, execOverWebSocket } from './pod-exec.js';
import { podOf } from '../../../testing/pod-builder.js';

function podAnswering(exec?: string, state: object = { running: {} }): Pod {
  return podOf({
    metadata: { name: 'p', annotations: exec === undefined ? {} : { 'node.rollkeeper.dev/exec': exec } },
    spec: { nodeName: 'n', containers: [{ name: 'web' }] },
    status: {
      containerStatuses: [{ name: 'web', image: '', imageID: '', ready: true, restartCount: 0, state }],
    },
  });
}

const run = (pod: Pod, command: string) => decideExec(pod, 'web', command.split(' '));

describe('a command in a container', () => {
  it.each<[string, string, object]>([
    ['prints a text', 'date: "now\\n"', { stdout: 'now\n', stderr: '', exitCode: 0 }],
    ['fails as it says', 'date: { stderr: no, exitCode: 3 }', { stdout: '', stderr: 'no', exitCode: 3 }],
    ['is any command', 'ls: a\n"*": b', { stdout: 'b', stderr: '', exitCode: 0 }],
  ])('%s', (_name, exec, answer) => {
    expect(run(podAnswering(exec), 'date')).toEqual({ type: 'answer', answer });
  });

  it('is told apart by its words', () => {
    expect(run(podAnswering('ls: all\nls -l /data: some'), 'ls -l /data')).toMatchObject({
      answer: { stdout: 'some' },
    });
    expect(run(podAnswering('ls: all'), 'ls -a')).toEqual({ type: 'unknown command', command: 'ls' });
    expect(run(podAnswering('ls: all'), 'constructor')).toEqual({
      type: 'unknown command',
      command: 'constructor',
    });
  });

  it('has no owner if the pod names none', () => {
    expect(run(podAnswering(), 'ls')).toBeUndefined();
  });

  it.each([
    ['no map', 'annotation node.rollkeeper.dev/exec is not a map of commands to answers'],
    ['ls: { exitCode: 256 }', 'annotation node.rollkeeper.dev/exec'],
    ['ls: { output: x }', 'annotation node.rollkeeper.dev/exec'],
    ['{', 'annotation node.rollkeeper.dev/exec'],
  ])('is refused where the annotation is wrong: %s', (exec, problem) => {
    expect(() => run(podAnswering(exec), 'ls')).toThrow(problem);
  });

  it('finds no container that does not run', () => {
    expect(() => run(podAnswering('ls: a', { waiting: {} }), 'ls')).toThrow('container not found ("web")');
  });
});

const ANSWER: ExecOutcome = { type: 'answer', answer: { stdout: 'out', stderr: 'err', exitCode: 2 } };

/** The messages that a client gets: channel and text of each. */
function messagesOf(query: string, outcome: ExecOutcome = ANSWER, protocols = 'v4.channel.k8s.io') {
  const headers = { upgrade: 'websocket', 'sec-websocket-protocol': protocols };
  const options = admittedOptions(connectOptionsOf(new URLSearchParams(query), 'exec'));
  const messages: [number, string][] = [];
  let isClosed = false;
  const atOnce = { setTimeout: (then: () => void) => (then(), { cancel: () => undefined }) };
  const upgrade = execOverWebSocket({ headers }, options, outcome, atOnce);
  upgrade.serve({
    send: (data) => messages.push([data[0]!, data.subarray(1).toString()]),
    close: () => (isClosed = true),
  });
  expect(isClosed).toBe(true);
  return { protocol: upgrade.protocol, messages: messages.filter(([, text]) => text !== '') };
}

describe('the protocol of remote commands', () => {
  it('sends each stream that is wanted on its channel, and then the end', () => {
    const { messages, protocol } = messagesOf(
      'stdout=true&stderr=true',
      ANSWER,
      'v5.channel.k8s.io, v4.channel.k8s.io',
    );
    expect(protocol).toBe('v5.channel.k8s.io');
    expect(messages.slice(0, 2)).toEqual([
      [1, 'out'],
      [2, 'err'],
    ]);
    expect(messages[2]?.[0]).toBe(3);
    expect(JSON.parse(messages[2]![1])).toMatchObject({
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '2' }] },
    });
  });

  it('has one stream on a terminal, and no unrequested one', () => {
    expect(messagesOf('stdout=1&tty=1').messages.slice(0, 2)).toEqual([
      [1, 'out'],
      [1, 'err'],
    ]);
    expect(messagesOf('stdin=1').messages).toHaveLength(1);
  });

  it('needs a protocol that both know', () => {
    expect(() => messagesOf('', ANSWER, 'v1.channel.k8s.io')).toThrow('unable to negotiate protocol');
  });
});
