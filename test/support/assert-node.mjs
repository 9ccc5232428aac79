// Runs before the tests, the demo and the build, and says what an older Node would not: it ends with an error about the file
// extension. Plain JavaScript, because that Node runs no TypeScript.

const wanted = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < wanted) {
  process.stderr.write(
    `This project needs Node 24 or 26, and this is ${process.version}.\n` +
      'On Linux x64 and arm64 run "npm ci" without --omit=optional: it brings Node 26.\n' +
      'Elsewhere install Node 26.\n',
  );
  process.exit(1);
}
