/**
 * No circles between the folders of a package, nor between packages: what a folder needs is below it. Beside the other rules because
 * tests may import any folder, and dependencies between folders are counted for all of their files at once.
 */
const { options } = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [
    { name: 'no-folder-circles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
  ],
  options: {
    ...options,
    exclude: {
      path: [
        options.exclude.path,
        String.raw`\.(spec|fixture)\.ts$`,
        '^src/testing/',
        // Loads the adapter for Redis only where it is asked to: another may take its place.
        String.raw`^src/runtime/operator/manager/create-manager\.ts$`,
      ].join('|'),
    },
  },
};
