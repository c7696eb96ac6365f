# The programs of the tarball of “make release”.
{ lib, stdenv, autoPatchelfHook, wayland, libxcb, release }:

stdenv.mkDerivation {
  pname = "navd";
  version = "0.2.0";
  src = release;

  # navd and navctl have no shared libraries; navd-windows has these.
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ wayland libxcb ];

  dontBuild = true;
  dontStrip = true;
  installPhase = ''
    runHook preInstall
    ./install.sh --prefix "$out" --destdir /
    # Where systemd looks in a profile.
    mkdir -p "$out/share/systemd"
    ln -s ../../lib/systemd/user "$out/share/systemd/user"
    runHook postInstall
  '';

  meta = {
    description = "Opens and closes panels, pop-ups and windows of a desktop";
    license = with lib.licenses; [ mit lgpl21Plus asl20 publicDomain ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "navctl";
  };
}
