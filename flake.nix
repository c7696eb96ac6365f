# For Nix, from the tarball of “make release”; flake.lock of your configuration has its checksum.
#
# **Not tried** with nixpkgs: “make release-check” evaluates all of this with stand-ins for nixpkgs (packaging/nix/stand-in), and
# builds nothing with Nix, since that needs a network.
{
  description = "Presentation coordinator for desktop sessions";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    release = {
      url = "https://navd.invalid/releases/navd-0.2.0-linux-x86_64.tar.gz";
      flake = false;
    };
  };

  outputs = { self, nixpkgs, release }:
    let
      # That of the tarball.
      system = "x86_64-linux";
      navd = nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { inherit release; };
    in
    {
      packages.${system} = { inherit navd; default = navd; };
      homeManagerModules.default = import ./packaging/nix/home-manager.nix self;
    };
}
