import { describe, expect, it } from 'vitest';
import { imageRemedies, unschedulableRemedies } from './pod-remedies.js';

const NO_VICTIMS = ' preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.';

describe('remedies that would place a pod', () => {
  it.each([
    ["3 node(s) didn't match Pod's node affinity/selector", /^give a node the label .*nodeSelector/],
    ['3 node(s) had untolerated taint {dedicated: db}', /^remove the taint .*toleration/],
    ['3 node(s) had untolerated taint(s)', /^remove the taint .*toleration/],
    ['3 node(s) were unschedulable', /kubectl uncordon/],
    ["3 node(s) didn't have free ports for the requested pod ports", /host port .*hostPort/],
    ["3 node(s) didn't match pod topology spread constraints", /maxSkew/],
    ["3 node(s) didn't match pod topology spread constraints (missing required label)", /maxSkew/],
    ["3 node(s) didn't match pod anti-affinity rules", /anti-affinity/],
    ["3 node(s) didn't satisfy existing pods anti-affinity rules", /anti-affinity/],
    ["3 node(s) didn't match pod affinity rules", /its pod affinity asks for/],
    ['persistentvolumeclaim "data" not found', /^create the PersistentVolumeClaim/],
    ['pod has unbound immediate PersistentVolumeClaims', /^bind its claim/],
    ['3 node(s) had volume node affinity conflict', /^bind its claim/],
    ["3 node(s) didn't find available persistent volumes to bind", /^bind its claim/],
    ['3 node(s) exceed max volume count', /as many volumes/],
    ['3 cannot allocate all claims', /ResourceClaim/],
    ["3 node(s) didn't match the requested node name", /nodeName/],
    ['3 Too many pods', /as many pods/],
    ['3 Insufficient cpu', /^add nodes or free resources/],
    ['3 Insufficient example.com/gpu', /^add nodes or free resources/],
    ['3 node(s) said something new', /^change what the message names/],
  ])('follows of what the scheduler says: %s', (says, remedy) => {
    const [first, ...more] = unschedulableRemedies(`0/3 nodes are available: ${says}.${NO_VICTIMS}`);
    expect(first).toMatch(remedy);
    expect(more.join()).not.toMatch(/add nodes or free/);
  });

  it('begins with what keeps it from most nodes, and names the rest', () => {
    const says =
      '0/6 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu, 3 node(s) were unschedulable.';
    expect(unschedulableRemedies(says + NO_VICTIMS).map((remedy) => remedy.split(' ')[0])).toEqual([
      'make',
      'add',
      'or',
      'remove',
    ]);
  });

  it('is a node where there is none', () => {
    expect(unschedulableRemedies('no nodes available to schedule pods')).toEqual([
      'add a node: the cluster has none',
    ]);
  });
});

describe('remedies that would pull an image', () => {
  const denied = 'pull access denied, repository does not exist or may require authorization';

  it('is the Secret that is named, where access is denied', () => {
    const [first, ...more] = imageRemedies({
      reason: 'ErrImagePull',
      message: denied,
      pullSecrets: ['regcred'],
    });
    expect(first).toMatch(/^create the Secret regcred that imagePullSecrets names/);
    expect(more.join()).not.toContain('give the pods');
  });

  it.each([
    ['ErrImagePull', denied, /imagePullSecret/],
    ['ImagePullBackOff', 'Back-off pulling image "web:2"', /^correct the image/],
    ['InvalidImageName', 'couldn’t parse', /^correct the reference/],
    ['ErrImageNeverPull', 'not present', /imagePullPolicy/],
    ['ErrImagePull', 'toomanyrequests: rate limit', /rate limit/],
    ['ErrImagePull', 'lookup registry.example: no such host', /reachable/],
  ])('follows of %s: %s', (reason, message, remedy) => {
    expect(imageRemedies({ reason, message }).join('; ')).toMatch(remedy);
  });
});
