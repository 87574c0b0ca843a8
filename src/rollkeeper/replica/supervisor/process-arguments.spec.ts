import { describe, expect, it } from 'vitest';
import { apiServerArguments, replicaArguments } from './process-arguments.js';
import { compileUpOptions } from './up.options.js';

const GATES = 'EvictionRequestAPI=true';
const PLACE = {
  ...{ identity: 'controller-0', kubeconfig: 'kubeconfig', consolePort: '0', adminPort: '0' },
  folder: { isShared: false },
};

const argumentsWith = (gates: { readonly 'feature-gates'?: string }) => {
  const up = compileUpOptions(gates);
  const replica = replicaArguments(up, PLACE);
  return { server: apiServerArguments(up, 6443).join(' '), replica: replica.join(' ') };
};

describe('the feature gates of up', () => {
  it('are those of its API server, and the replicas run the controllers of what is on', () => {
    const { replica, server } = argumentsWith({ 'feature-gates': GATES });
    expect(server).toContain(`--feature-gates ${GATES}`);
    expect(replica).toContain('--eviction-requests');
  });

  it.each([{}, { 'feature-gates': 'EvictionRequestAPI=false' }])(
    'are off by default, and with %j',
    (gates) => {
      expect(argumentsWith(gates).replica).not.toContain('--eviction-requests');
    },
  );

  it('are refused before anything starts, if one is not known', () => {
    expect(() => argumentsWith({ 'feature-gates': 'Other=true' })).toThrow(
      'feature-gates: unrecognized feature gate: Other; known: EvictionRequestAPI',
    );
  });
});

describe('the replicas of up', () => {
  const commandLine = (...own: string[]) =>
    replicaArguments(compileUpOptions({ 'controller-args': own }), PLACE).join(' ');

  it.each([[['--slots', '16']], [['--slots=16']], [['--slots', '0', '--slots=16']]])(
    'are without what needs one replica that sees everything, given %j',
    (own) => {
      expect(commandLine(...own)).not.toMatch(/--max-rollouts|--notification-hosts/);
    },
  );

  it.each([[[]], [['--slots', '0']], [['--workers', '2']]])('limit rollouts and notify, given %j', (own) => {
    expect(commandLine(...own)).toMatch(/--max-rollouts 0 --notification-hosts localhost/);
  });
});
