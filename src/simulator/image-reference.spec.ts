import { describe, expect, it } from 'vitest';
import {
  BROKEN_IMAGE_WORDS,
  NEVER_READY_IMAGE_WORDS,
  judgeImage,
  parseImageReference,
} from './image-reference.js';

describe('parseImageReference', () => {
  it.each([
    ['nginx', { repository: 'nginx' }],
    ['nginx:1.27-alpine', { repository: 'nginx', tag: '1.27-alpine' }],
    ['library/nginx', { repository: 'library/nginx' }],
    ['localhost/app:v1', { registry: 'localhost', repository: 'app', tag: 'v1' }],
    ['registry.k8s.io/pause:3.9', { registry: 'registry.k8s.io', repository: 'pause', tag: '3.9' }],
    ['my.host:5000/a/b_c/d-e:X', { registry: 'my.host:5000', repository: 'a/b_c/d-e', tag: 'X' }],
  ])('takes %s apart', (image, parts) => {
    expect(parseImageReference(image)).toMatchObject(parts);
  });

  it('takes a digest', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(parseImageReference(`nginx@${digest}`)).toMatchObject({ repository: 'nginx', digest });
  });

  it.each([
    '',
    'Nginx',
    'nginx:',
    'nginx::1',
    'nginx:1:2',
    ':1',
    'ng inx',
    '/nginx',
    'nginx/',
    'a//b',
    'nginx@sha256:1',
  ])('refuses %j', (image) => {
    expect(parseImageReference(image)).toBeUndefined();
    expect(judgeImage(image)).toBe('malformed');
  });
});

describe('judgeImage', () => {
  it.each(BROKEN_IMAGE_WORDS)(
    'takes "%s" in the tag or the repository for an image that does not exist',
    (word) => {
      expect(judgeImage(`nginx:${word}`)).toBe('broken');
      expect(judgeImage(`example.com/team/${word}-app:1.0`)).toBe('broken');
    },
  );

  it.each(NEVER_READY_IMAGE_WORDS)('lets an image with "%s" start, and never be ready', (word) => {
    expect(judgeImage(`nginx:${word}`)).toBe('never-ready');
    expect(judgeImage(`example.com/team/${word}-app:1.0`)).toBe('never-ready');
    expect(judgeImage(`nginx:${word}-broken`)).toBe('broken');
  });

  it('lets images with "crash" start and exit', () => {
    expect(judgeImage('crasher:v1')).toBe('crashing');
    expect(judgeImage('nginx:crash')).toBe('crashing');
  });

  it('does not look at the host of the registry, nor at the case', () => {
    expect(judgeImage('broken.example.com/nginx:1')).toBe('good');
    expect(judgeImage('nginx:BROKEN')).toBe('broken');
  });

  it.each(['nginx:1.161', 'registry.invalid/app:1', 'registry.invalid:5000/app'])(
    'knows that %s exists nowhere',
    (image) => expect(judgeImage(image)).toBe('broken'),
  );

  it.each(['nginx', 'nginx:1.16.1', 'busybox:latest', 'registry.k8s.io/pause:3.10'])(
    'finds %s good',
    (image) => {
      expect(judgeImage(image)).toBe('good');
    },
  );
});
