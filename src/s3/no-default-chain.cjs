// In a bundle this replaces `@aws-sdk/credential-provider-node` (see .ci/bundle.ts): the library's default chain, which
// reads files of a home folder and starts programs. No client here has credentials of that chain.

module.exports = {
  defaultProvider: () => () =>
    Promise.reject(new Error('the default chain of credentials is not part of this program')),
};
